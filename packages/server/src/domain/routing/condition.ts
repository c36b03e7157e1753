import type { Condition } from '@postroad/contract'
import { compareDecimals, LIMITS, plainDecimalText } from '@postroad/contract/plain'
import { compileEventPath, isMasked, readEvent, type EventSource } from './event-path.ts'
import { isRawNumber, type RawNumber } from '../json/json-text.ts'
import { compilePattern, matches } from './regex/pattern.ts'
import { compileSearch } from '../text-search.ts'
import type { Counting } from '../work-budget.ts'

/** 'text' in rules and endpoint criteria, 'strict' in workflows and triggers (contract part 2, "Condition", rule 5). */
export type CompareMode = 'text' | 'strict'

/** The first condition that did not match, and its value in the event; `saw` is undefined when the path does not exist. */
export type ConditionFailure = { readonly index: number; readonly condition: Condition; readonly saw: unknown }

export type CompiledConditions = {
  /**
   * Undefined when all conditions match; an empty list matches everything. The work of each condition is counted before it
   * runs; without a budget, it is not limited.
   */
  readonly firstFailure: (source: EventSource, budget?: Counting) => ConditionFailure | undefined
  /** An event that lacks one of these does not match, whatever else it has. */
  readonly needs: readonly Need[]
  readonly mode: CompareMode
}

/** A value that a condition needs. */
export type Need = {
  readonly path: string
  /** The value at the path; undefined: there is none. */
  readonly read: (source: EventSource) => unknown
  /** `keysOf` the value contains one of these; undefined: any value can match. */
  readonly keys: readonly unknown[] | undefined
}

type Test = (value: unknown) => boolean

/** Compiles a list of saved conditions once, for payloads from `parseJson`. A masked value of a request matches none of them. */
export function compileConditions(conditions: readonly Condition[], mode: CompareMode): CompiledConditions {
  const compiled = conditions.map((condition, index) => ({
    index,
    condition,
    path: compileEventPath(condition.path),
    holds: testOf(condition, mode),
  }))
  return {
    firstFailure: (source, budget) => {
      for (const { index, condition, path, holds } of compiled) {
        const saw = readEvent(source, path)
        budget?.spend(workOf(condition, saw))
        if (!holds(saw) || isMasked(saw, path)) return { index, condition, saw }
      }
      return undefined
    },
    needs: compiled.flatMap(({ condition, path }) => {
      // Only this operator matches when nothing is there.
      if ('op' in condition && condition.op === 'not_equals') return []
      return { path: condition.path, read: (source) => readEvent(source, path), keys: keysIn(condition, mode) }
    }),
    mode,
  }
}

function keysIn(condition: Condition, mode: CompareMode): readonly unknown[] | undefined {
  const values =
    'equals' in condition ? [condition.equals] : condition.op === 'in' ? [...new Set(condition.value)] : undefined
  return mode === 'strict' ? values : values?.map(String)
}

/** The keys under which an index of `Need.keys` has everything that equals this value. */
export function keysOf(value: unknown, mode: CompareMode): readonly unknown[] {
  if (mode === 'text') return textsOf(value)
  return [isRawNumber(value) ? Number(value.rawJSON) : value]
}

/** The cost of a condition, in characters. A search reads its text more than once. */
const CONDITION_WORK = 64
const SEARCHED_WORK = 8
const ITEM_WORK = 16

function workOf(condition: Condition, saw: unknown): number {
  const searches = 'op' in condition && condition.op === 'contains'
  if (Array.isArray(saw)) return CONDITION_WORK + (searches ? saw.length * ITEM_WORK : 0)
  if (typeof saw !== 'string') return CONDITION_WORK
  if ('op' in condition && condition.op === 'regex') return CONDITION_WORK + LIMITS.regexSubjectCharsMax
  return CONDITION_WORK + saw.length * (searches ? SEARCHED_WORK : 1)
}

function testOf(condition: Condition, mode: CompareMode): Test {
  if ('equals' in condition) return equalsOneOf([condition.equals], mode)
  switch (condition.op) {
    case 'not_equals':
      return not(equalsOneOf([condition.value], mode))
    case 'in':
      return equalsOneOf(condition.value, mode)
    case 'contains':
      return containsText(condition.value)
    case 'regex':
      return matchesPattern(condition.value)
    case 'exists':
      return (value) => value !== undefined
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return comparesTo(condition.op, condition.value)
  }
}

function not(test: Test): Test {
  return (value) => !test(value)
}

function equalsOneOf(values: readonly unknown[], mode: CompareMode): Test {
  if (mode === 'strict') {
    const wanted = new Set(values)
    return (value) => wanted.has(isRawNumber(value) ? Number(value.rawJSON) : value)
  }
  const wanted = new Set(values.map(String))
  return (value) => {
    if (typeof value === 'string') return wanted.has(value)
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) return wanted.has(String(value))
    return isRawNumber(value) && (wanted.has(value.rawJSON) || wanted.has(canonicalText(value)))
  }
}

/** The texts that equal a value in rules: the condition matches if its text is one of them. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return [String(value)]
  return isRawNumber(value) ? [value.rawJSON, canonicalText(value)] : []
}

/** Text inside a text field; in a list, an item that equals this text. */
function containsText(wanted: string): Test {
  const search = compileSearch(wanted)
  return (value) => (typeof value === 'string' ? search(value) : Array.isArray(value) && value.includes(wanted))
}

function matchesPattern(pattern: string): Test {
  const compiled = compilePattern(pattern)
  return (value) => typeof value === 'string' && matches(compiled, value)
}

function comparesTo(op: 'gt' | 'gte' | 'lt' | 'lte', bound: number | string): Test {
  const fits = FITS[op]
  const limit = String(bound)
  return (value) => {
    // Two doubles compare exactly by themselves.
    if (typeof value === 'number' && typeof bound === 'number') return fits(value - bound)
    const decimal = decimalOf(value)
    return decimal !== undefined && fits(compareDecimals(decimal, limit))
  }
}

const FITS: Readonly<Record<'gt' | 'gte' | 'lt' | 'lte', (order: number) => boolean>> = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
}

/** A number with every digit, also from a plain decimal in text. */
function decimalOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return plainDecimalText(value)
  return isRawNumber(value) ? value.rawJSON : undefined
}

/** `1.50` is also `1.5`. Beyond 2^53 a number equals only its own digits, so that its neighbors do not match. */
function canonicalText(raw: RawNumber): string {
  const value = Number(raw.rawJSON)
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : raw.rawJSON
}
