import { type Condition, type ConditionOp } from '@postroad/contract'
import { signOf } from '@postroad/contract/filter'

/** A condition as a person writes it: the value is text, read as JSON where it is a number, true, false or null. */
export type ConditionDraft = { readonly path: string; readonly op: ConditionOp; readonly value: string }

/** The condition of a request. */
export type SentCondition = { readonly path: string; readonly op: ConditionOp; readonly value?: unknown }

export function draftOf(condition: Condition): ConditionDraft {
  if (!('op' in condition)) return { path: condition.path, op: 'equals', value: scalarText(condition.equals) }
  const { path, op } = condition
  if (!('value' in condition)) return { path, op, value: '' }
  const { value } = condition
  if (Array.isArray(value)) return { path, op, value: value.map(scalarText).join(', ') }
  return { path, op, value: isTextOp(op) ? String(value) : scalarText(value) }
}

/** The condition as a person reads it: `total > 1000`. */
export function conditionText(condition: Condition): string {
  const { path, op, value } = draftOf(condition)
  return op === 'exists' ? `${path} exists` : `${path} ${signOf(op)} ${value}`
}

export function sentOf({ path, op, value }: ConditionDraft): SentCondition {
  const at = path.trim()
  if (op === 'exists') return { path: at, op }
  if (op === 'in') return { path: at, op, value: itemsIn(value).map(scalarIn) }
  return { path: at, op, value: isTextOp(op) ? value : scalarIn(value.trim()) }
}

function isTextOp(op: ConditionOp): boolean {
  return op === 'contains' || op === 'regex'
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** `42`, `true` and `null` are JSON values. Text in quotes is text, and so is everything else. */
function scalarIn(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  if (NUMBER.test(text) && Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER) return Number(text)
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text
}

/** The values of a list, with commas or lines between. A value in quotes can contain both. */
function itemsIn(text: string): string[] {
  return [...text.matchAll(/\s*".*?"(?=\s*(?:[\n,]|$))|[^\n,]+/gs)]
    .map(([item]) => item.trim())
    .filter((item) => item !== '')
}

/** In quotes where the text alone would be read as another value: a number, a list, no text, or text without its spaces. */
function scalarText(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  const isPlain = scalarIn(value) === value && value !== '' && value === value.trim() && !/[\n,]/.test(value)
  return isPlain ? value : `"${value}"`
}
