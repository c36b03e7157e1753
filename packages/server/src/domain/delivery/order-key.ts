import { createHash } from 'node:crypto'
import { compilePath, readPath } from '../routing/dot-path.ts'
import { stringifyJson } from '../json/json-text.ts'

/** Gives the key by which a record is kept in order, and `own` where it has none: then it waits for no other one. */
export type OrderKeyOf = (payload: unknown, own: string) => string

/**
 * The value at a path as a key of 128 bits in the form of a UUID, however large the value is and whatever it tells of a
 * person. Equal values have equal keys; `1` and `"1"` are not equal. Missing and null are no value.
 */
export function compileOrderKey(path: string): OrderKeyOf {
  const steps = compilePath(path)
  return (payload, own) => {
    const value = readPath(payload, steps)
    return value === undefined || value === null ? own : hashed(stringifyJson(value))
  }
}

function hashed(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
