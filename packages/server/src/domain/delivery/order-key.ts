import { createHash } from 'node:crypto'
import { compileEventPath, readEvent, type EventSource } from '../routing/event-path.ts'
import { stringifyJson } from '../json/json-text.ts'

/** Returns the key that orders a record, or `own` when it has no value there. Such a record waits for no other. */
export type OrderKeyOf = (source: EventSource, own: string) => string

/**
 * The value at a path as a 128-bit key in the form of a UUID, however large or personal the value is. Equal values have equal
 * keys; `1` and `"1"` are not equal. A missing value and null give `own`.
 */
export function compileOrderKey(path: string): OrderKeyOf {
  const compiled = compileEventPath(path)
  return (source, own) => {
    const value = readEvent(source, compiled)
    return value === undefined || value === null ? own : hashed(stringifyJson(value))
  }
}

function hashed(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
