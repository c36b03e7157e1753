import { escapeHtml } from '../domain/people/email-text.ts'

const made: unique symbol = Symbol('made by html')

/** Text that is already HTML. Nothing else gets into a page unescaped. */
export type Html = { readonly [made]: string }

type Part = string | number | Html | readonly Part[]

/** A template that escapes its values, except those that it made itself. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [made]: texts.reduce((all, text, index) => `${all}${written(parts[index - 1] ?? '')}${text}`) }
}

/** Text that is HTML as it is, such as the content of an asset file. */
export function asHtml(text: string): Html {
  return { [made]: text }
}

/** The page as text. */
export function toText(page: Html): string {
  return page[made]
}

function written(part: Part): string {
  if (typeof part === 'string') return escapeHtml(part)
  if (typeof part === 'number') return String(part)
  return isList(part) ? part.map(written).join('') : part[made]
}

function isList(part: Html | readonly Part[]): part is readonly Part[] {
  return Array.isArray(part)
}
