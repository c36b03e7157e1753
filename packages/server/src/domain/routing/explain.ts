import type { Failure } from '@postroad/contract'
import type { CompiledConditions, ConditionFailure } from './condition.ts'
import type { EventSource } from './event-path.ts'
import { JsonWriter, TextTooLong } from '../json/json-work.ts'
import { UNLIMITED, type Counting } from '../work-budget.ts'

const SHOWN_CHARS_MAX = 200

/** The first condition that failed, with both of its values short enough to be stored with every event. */
export function explain(
  conditions: CompiledConditions,
  { budget, ...source }: EventSource & { readonly budget?: Counting },
): Failure | null {
  return explained(conditions.firstFailure(source, budget))
}

function explained(failure: ConditionFailure | undefined): Failure | null {
  if (failure === undefined) return null
  const { condition, index, saw } = failure
  const op = 'op' in condition ? condition.op : 'equals'
  const expected = 'equals' in condition ? condition.equals : 'value' in condition ? condition.value : undefined
  return {
    index,
    path: condition.path,
    op,
    ...(expected === undefined ? {} : { expected: short(expected) }),
    ...(saw === undefined ? {} : { saw: short(saw) }),
  }
}

function short(value: unknown): unknown {
  // Most conditions compare numbers and flags, of which none is long.
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value : beginningOf(value)
  if (text.length <= SHOWN_CHARS_MAX) return value
  return `${text.slice(0, SHOWN_CHARS_MAX)}…`
}

/** The part of a value's JSON that is shown. The whole can be as long as the payload, and every rule can read it. */
function beginningOf(value: unknown): string {
  const writer = new JsonWriter({ budget: UNLIMITED, charsMax: SHOWN_CHARS_MAX })
  try {
    writer.value(value)
  } catch (error) {
    if (!(error instanceof TextTooLong)) throw error
  }
  return writer.text
}
