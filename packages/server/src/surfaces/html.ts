import { escapeHtml } from '../domain/people/letter.ts'

const made: unique symbol = Symbol('made by html')

/** Text that is HTML already; nothing else gets into a page unescaped. */
export type Html = { readonly [made]: string }

type Part = string | number | Html | readonly Part[]

/** A template whose values are escaped, but for what this template made. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [made]: texts.reduce((all, text, index) => `${all}${written(parts[index - 1] ?? '')}${text}`) }
}

/** Text that is HTML as it stands: what a file of ours holds. */
export function asHtml(text: string): Html {
  return { [made]: text }
}

/** The page as it is sent. */
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
