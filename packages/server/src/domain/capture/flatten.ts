import { columnName } from './column.ts'
import { isRawNumber } from '../json/json-text.ts'
import { setOwn } from '../json/own-property.ts'

/** `chars`: the approximate length of all its keys and values. */
export type Flat = { readonly columns: Readonly<Record<string, unknown>>; readonly chars: number }

/**
 * A payload as flat columns for the records listing: `{a: {b: [{c: 1}]}}` → `{'a.b.0.c': 1}`, in the order of the payload. Each
 * column is the dot path of its value. Empty objects and lists are values; a payload that is neither an object nor a list is
 * the column `value`. undefined: it would be longer than `charsMax`, because deep payloads have long paths.
 */
export function flatten(payload: unknown, charsMax: number = Infinity): Flat | undefined {
  const flat = { columns: {}, chars: 0, charsMax }
  if (!isBranch(payload)) return put(flat, 'value', payload) ? flat : undefined
  return fill(flat, { branch: payload, prefix: '' }) ? flat : undefined
}

type Filling = { readonly columns: Record<string, unknown>; chars: number; readonly charsMax: number }

/** Returns whether everything fit. */
function fill(flat: Filling, { branch, prefix }: { branch: object; prefix: string }): boolean {
  for (const key in branch) {
    if (!Object.hasOwn(branch, key)) continue
    const value: unknown = Reflect.get(branch, key)
    const isInner = isBranch(value) && !isEmpty(value)
    // A path is built only while there is room for it.
    if (flat.chars + prefix.length + key.length > flat.charsMax) return false
    const fits = isInner
      ? fill(flat, { branch: value, prefix: `${prefix}${columnName(key)}.` })
      : put(flat, prefix === '' ? columnName(key, 'top') : prefix + columnName(key), value)
    if (!fits) return false
  }
  return true
}

function put(flat: Filling, column: string, value: unknown): boolean {
  flat.chars += column.length + charsOf(value)
  if (flat.chars > flat.charsMax) return false
  setOwn(flat.columns, column, value)
  return true
}

/** The approximate length of a leaf as JSON. */
export function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  return isRawNumber(value) ? value.rawJSON.length : 8
}

export function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isRawNumber(value)
}

export function isEmpty(branch: object): boolean {
  for (const key in branch) if (Object.hasOwn(branch, key)) return false
  return true
}
