import type { Failure } from '@postroad/contract'
import type { CompiledConditions } from './condition.ts'
import { stringifyJson } from './json-text.ts'

const SAW_CHARS_MAX = 200

/** The first condition that failed and the value it saw, short enough to be kept with every event. */
export function explain(conditions: CompiledConditions, payload: unknown): Failure | null {
  const failure = conditions.firstFailure(payload)
  if (failure === undefined) return null
  const { condition, index, saw } = failure
  const op = 'op' in condition ? condition.op : 'equals'
  const expected = 'equals' in condition ? condition.equals : 'value' in condition ? condition.value : undefined
  return { index, path: condition.path, op, ...(expected === undefined ? {} : { expected }), ...(saw === undefined ? {} : { saw: short(saw) }) }
}

function short(value: unknown): unknown {
  const text = typeof value === 'string' ? value : (stringifyJson(value) ?? '')
  if (text.length <= SAW_CHARS_MAX) return value
  return `${text.slice(0, SAW_CHARS_MAX)}…`
}
