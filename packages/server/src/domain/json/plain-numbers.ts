import { isRawNumber } from './json-text.ts'
import { setOwn } from './own-property.ts'

/** A JSON value with ordinary numbers, as a schema expects them, except in the named members. */
export function withPlainNumbers(value: unknown, but: readonly string[] = []): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON)
  if (typeof value !== 'object' || value === null) return value
  for (const [key, member] of Object.entries(value))
    if (typeof member === 'object' && !but.includes(key)) setOwn(value, key, withPlainNumbers(member))
  return value
}
