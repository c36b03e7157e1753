import type { Condition, Conditions } from '@postroad/contract'
import { compilePath, type Path } from '../../routing/dot-path.ts'
import { compileEventPath } from '../../routing/event-path.ts'
import { termsOfPath, termsOfText, termsOfValue, type Scope, type Term } from './terms.ts'

/** A document matches only if it has all terms of at least one of the lists. */
export type Probe = { readonly any: readonly (readonly Term[])[] }

/** More terms would read more of the index and rule out nothing else. */
const TERMS_OF_TEXT_MAX = 16

/** The terms that a search requires of a document; empty: the index rules out nothing. */
export function probesOf(wanted: {
  readonly text: string | null
  readonly conditions: Conditions
  readonly headerConditions: Conditions
  readonly queryConditions: Conditions
}): readonly Probe[] {
  return [
    ...(wanted.text === null ? [] : [textTerms(wanted.text)]),
    ...wanted.conditions.flatMap((condition) => ofCondition('payload', condition)),
    ...wanted.headerConditions.flatMap((condition) => ofCondition('headers', condition)),
    ...wanted.queryConditions.flatMap((condition) => ofCondition('query', condition)),
  ]
    .filter((terms) => terms.every((list) => list.length > 0))
    .map((any) => ({ any }))
}

type Terms = readonly (readonly Term[])[]

const textTerms = (text: string): Terms => [spread(termsOfText(text))]

/** Terms from the whole text, because its start is often the same in many documents. */
function spread(terms: readonly Term[]): readonly Term[] {
  if (terms.length <= TERMS_OF_TEXT_MAX) return terms
  return Array.from(
    { length: TERMS_OF_TEXT_MAX },
    (_none, index) => terms[Math.floor((index * terms.length) / TERMS_OF_TEXT_MAX)] ?? 0,
  )
}

type Indexed = { readonly scope: Scope; readonly path: Path }

/** Where the index has the value of a condition; undefined: it does not. */
function indexedAt(scope: Scope, path: string): Indexed | undefined {
  if (scope !== 'payload') return { scope, path: compilePath(path) }
  const { of, steps } = compileEventPath(path)
  if (of === 'payload') return { scope, path: steps }
  const [member, ...rest] = steps
  return member === 'headers' || member === 'query' ? { scope: member, path: rest } : undefined
}

function ofCondition(asked: Scope, condition: Condition): readonly Terms[] {
  const indexed = indexedAt(asked, condition.path)
  if (indexed === undefined) return []
  const { scope, path } = indexed
  const equalTo = (value: unknown): readonly Term[] => [
    ...termsOfValue(scope, { path, text: String(value) }),
    ...(typeof value === 'string' && !canBeNumber(scope, value) ? spread(termsOfText(value)) : []),
  ]
  if ('equals' in condition) return [[equalTo(condition.equals)]]
  switch (condition.op) {
    case 'in':
      return [condition.value.map(equalTo)]
    case 'contains':
      return [[termsOfPath(scope, path)], textTerms(condition.value)]
    case 'exists':
    case 'regex':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return [[termsOfPath(scope, path)]]
    case 'not_equals':
      // This operator also matches where the path does not exist.
      return []
  }
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i

/** A number in the payload can equal such a text although the payload writes it in another way. A header is always a text. */
const canBeNumber = (scope: Scope, value: string): boolean => scope === 'payload' && NUMBER.test(value)
