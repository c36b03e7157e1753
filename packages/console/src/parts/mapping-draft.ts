import { type Mapping, type Transform } from '@postroad/contract'
import type { ConditionDraft } from './condition-draft.ts'

/** One field of a record as a person writes it. `value` is a constant; `fallback` is used when the path leads nowhere. Both are JSON, or else text. */
export type MappingDraft = {
  readonly target: string
  readonly from: 'path' | 'value'
  readonly path: string
  readonly value: string
  readonly fallback: string
  readonly transform: Transform | ''
}

export const NEW_MAPPING: MappingDraft = { target: '', from: 'path', path: '', value: '', fallback: '', transform: '' }

export function mappingDraftOf(mapping: Mapping): MappingDraft {
  const { target, path, transform = '' } = mapping
  return {
    target,
    from: path === undefined ? 'value' : 'path',
    path: path ?? '',
    value: 'value' in mapping ? jsonText(mapping.value) : '',
    fallback: 'default' in mapping ? jsonText(mapping.default) : '',
    transform,
  }
}

export function mappingOf({ target, from, path, value, fallback, transform }: MappingDraft): Mapping {
  if (from === 'value') return { target: target.trim(), value: jsonIn(value) }
  return {
    target: target.trim(),
    path: path.trim(),
    ...(fallback === '' ? {} : { default: jsonIn(fallback) }),
    ...(transform === '' ? {} : { transform }),
  }
}

/** The sentence about a line that is not empty and not complete. Without it, the line would be dropped, and more would match. */
export function lineProblem({
  conditions,
  mappings,
}: {
  readonly conditions: readonly ConditionDraft[]
  readonly mappings: readonly MappingDraft[]
}): string | undefined {
  if (conditions.some(({ path, op, value }) => path.trim() === '' && (op !== 'equals' || value.trim() !== '')))
    return 'Enter the path of each condition, or remove it.'
  if (mappings.some(({ target, path, value, fallback }) => target.trim() === '' && path + value + fallback !== ''))
    return 'Enter the target of each field, or remove the field.'
  return undefined
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function jsonText(value: unknown): string {
  // An empty field is no default, so the empty text is in quotes.
  return typeof value === 'string' && value !== '' && jsonIn(value) === value ? value : JSON.stringify(value)
}
