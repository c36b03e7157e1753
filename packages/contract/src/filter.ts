import { CONDITION_OPS, type ConditionOp } from './condition-ops.ts'
import { compareDecimals, plainDecimalText } from './decimal.ts'
import { payloadSteps, queryMembers, requestSteps } from './dot-path.ts'
import { LIMITS } from './limits.ts'
import { RawNumber } from './raw-number.ts'
import { hasMask } from './sent-again.ts'

/** One condition as people type it and as an address contains it, `path:op:value`: the dialect of rules, for the console and the command line. */
export type Filter = { readonly path: string; readonly op: ConditionOp; readonly value: string }

const SIGNS: Readonly<Record<string, string>> = {
  equals: 'is',
  not_equals: 'is not',
  contains: 'contains',
  exists: 'exists',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  in: 'is one of',
  regex: 'matches',
} satisfies Record<ConditionOp, string>

/** The sign of an op, as in `amount > 10`. An op that a newer server stored is shown by its name. */
export function signOf(op: string): string {
  return SIGNS[op] ?? op
}

export function filterText({ path, op, value }: Filter): string {
  const sent = path.replaceAll(':', String.raw`\:`)
  return op === 'exists' ? `${sent}:exists` : `${sent}:${op}:${value}`
}

const ADDRESS = /^((?:\\.|[^:\\])+):([a-z_]+)(?::([^]*))?$/

/** A filter of an address; undefined when the text is not a filter. */
export function readFilter(text: string): Filter | undefined {
  const [, sent = '', op = '', value] = ADDRESS.exec(text) ?? []
  const known = CONDITION_OPS.find((one) => one === op)
  if (known === undefined || (known === 'exists') !== (value === undefined)) return undefined
  return {
    path: sent.replaceAll(/\\(.)/g, (pair, letter) => (letter === ':' ? ':' : pair)),
    op: known,
    value: value ?? '',
  }
}

const TYPED: readonly (readonly [RegExp, ConditionOp])[] = [
  [/^(\S+)\s*>=\s*(.+)$/, 'gte'],
  [/^(\S+)\s*<=\s*(.+)$/, 'lte'],
  [/^(\S+)\s*!=\s*(.+)$/, 'not_equals'],
  [/^(\S+?)\s*>\s*(\S.*)$/, 'gt'],
  [/^(\S+?)\s*<\s*(\S.*)$/, 'lt'],
  [/^(\S+?)\s*=\s*(\S.*)$/, 'equals'],
  [/^(\S+)\s+contains\s+(.+)$/, 'contains'],
  [/^(\S+)\s+in\s+(.+)$/, 'in'],
  [/^(\S+)\s+exists()$/, 'exists'],
]

/** A filter that a person typed: `total > 1000`, `type = order.created`, `coupon exists`; undefined for other text. */
export function typedFilter(text: string): Filter | undefined {
  const trimmed = text.trim()
  if (quotedText(trimmed) !== undefined) return undefined
  const asAddress = /^[$\w.\\-]+:[a-z_]+/.test(trimmed) ? readFilter(trimmed) : undefined
  if (asAddress !== undefined) return asAddress
  for (const [pattern, op] of TYPED) {
    const [, path, value = ''] = pattern.exec(trimmed) ?? []
    if (path !== undefined) return { path, op, value: value.trim().replace(/^"(.*)"$/, '$1') }
  }
  return undefined
}

/** Text in quotes is always searched for, even if it looks like a condition; undefined without the quotes. */
export function quotedText(text: string): string | undefined {
  return /^"([^"]+)"$/.exec(text.trim())?.[1]
}

const SIGN_AT_END = /^\S+?\s*(?:[<>=!]|[<>!]=)\s*$/
const WORD_AT_END = /^(\S+)\s+(?:contains?|contai?|cont?|in|exists?|exis?)\s*$/
const OP_AT_END = /^([$\w.\\-]+):([a-z_]*):?$/

/**
 * Whether a person is in the middle of typing a condition, such as `total >` or `type contains`. Words alone are a
 * condition only after a path that payloads have: `log in` is text to search for.
 */
export function isHalfTyped(text: string, paths: readonly string[]): boolean {
  const trimmed = text.trimStart()
  if (SIGN_AT_END.test(trimmed)) return true
  const [, word] = WORD_AT_END.exec(trimmed) ?? []
  if (word !== undefined) return paths.includes(word)
  const [, path, op = ''] = OP_AT_END.exec(trimmed) ?? []
  if (path === undefined) return false
  return (
    CONDITION_OPS.some((one) => one === op) || (paths.includes(path) && CONDITION_OPS.some((one) => one.startsWith(op)))
  )
}

/** Whether a text matches a pattern; undefined while the answer is unknown. */
export type MatchesPattern = (pattern: string, text: string) => boolean | undefined

const PATTERN_SUBJECT_CHARS_MAX = LIMITS.regexSubjectCharsMax

/** An event of a stream. Without its request, no path into the request finds anything. */
export type Seen = {
  readonly data: unknown
  readonly request?:
    | {
        readonly method: string | null
        readonly path?: string | null | undefined
        readonly query?: string | null | undefined
        readonly headers: Readonly<Record<string, string>>
      }
    | undefined
}

/** Whether an event meets a filter; values are compared as rules compare them: equality as text, order as numbers. */
export function meets({ data, request }: Seen, { path, op, value }: Filter, matches: MatchesPattern): boolean {
  const steps = requestSteps(path)
  if (steps === undefined) return TESTS[op](valueAt(data, path), value, matches)
  const saw = request === undefined ? undefined : inRequest(request, steps)
  return TESTS[op](saw, value, matches) && (steps[0] === 'path' || !hasMask(saw))
}

function inRequest(request: NonNullable<Seen['request']>, steps: readonly string[]): unknown {
  return readSteps({ ...request, query: queryMembers(request.query ?? null) }, steps) ?? undefined
}

type Test = (seen: unknown, value: string, matches: MatchesPattern) => boolean

const TESTS: Readonly<Record<ConditionOp, Test>> = {
  exists: (seen) => seen !== undefined,
  equals: (seen, value) => textsOf(seen).includes(value),
  not_equals: (seen, value) => !textsOf(seen).includes(value),
  in: (seen, value) => value.split(',').some((one) => textsOf(seen).includes(one)),
  contains: (seen, value) => (typeof seen === 'string' || Array.isArray(seen)) && seen.includes(value),
  regex: (seen, value, matches) =>
    typeof seen === 'string' && matches(value, seen.slice(0, PATTERN_SUBJECT_CHARS_MAX)) === true,
  gt: (seen, value) => order(seen, value) > 0,
  gte: (seen, value) => order(seen, value) >= 0,
  lt: (seen, value) => order(seen, value) < 0,
  lte: (seen, value) => order(seen, value) <= 0,
}

/** Whether a path is into the request of an event. */
export const isOfRequest = (path: string): boolean => requestSteps(path) !== undefined

/** The value at a path into the payload; undefined: nothing is there, or the path is into the request. */
export function valueAt(data: unknown, path: string): unknown {
  return isOfRequest(path) ? undefined : readSteps(data, payloadSteps(path))
}

function readSteps(data: unknown, steps: readonly string[]): unknown {
  let at = data
  for (const step of steps) {
    if (typeof at !== 'object' || at === null || at instanceof RawNumber || !Object.hasOwn(at, step)) return undefined
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an own member of an object, of any type
    at = (at as Record<string, unknown>)[step]
  }
  return at
}

/** The texts that a value is equal to: `1.50` is also `1.5`, but beyond 2^53 a number equals only its own digits. */
function textsOf(value: unknown): readonly string[] {
  if (value instanceof RawNumber)
    return Math.abs(Number(value.text)) <= Number.MAX_SAFE_INTEGER
      ? [value.text, String(Number(value.text))]
      : [value.text]
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
    ? [String(value)]
    : []
}

/** The order of a number, also as a plain decimal in text, and a bound; NaN for anything else, which is neither less nor more. */
function order(seen: unknown, bound: string): number {
  const decimal = decimalOf(seen)
  const limit = plainDecimalText(bound) ?? String(Number(bound))
  return decimal === undefined || limit === 'NaN' ? Number.NaN : compareDecimals(decimal, limit)
}

function decimalOf(seen: unknown): string | undefined {
  if (seen instanceof RawNumber) return seen.text
  if (typeof seen === 'number') return String(seen)
  return typeof seen === 'string' ? plainDecimalText(seen) : undefined
}
