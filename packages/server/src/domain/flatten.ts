import { LIMITS } from '@postroad/contract'
import { isRawNumber } from './json-text.ts'
import { setOwn } from './own-property.ts'

/** More columns than this do not help a reader, and a payload may hold a million. */
const COLUMNS_MAX = 500

/**
 * A payload as flat columns for the records listing: `{a: {b: [{c: 1}]}}` → `{'a.b.0.c': 1}`. A dot in a key is
 * written `\.`, so that each column is a dot path. Empty objects and lists stay as they are; a payload that is no
 * object or list is the column `value`. At most 500 columns, in the order of the payload; what lies deeper than a path
 * of 256 characters is left out, because no condition, mapping or view could name it.
 */
export function flatten(payload: unknown): Record<string, unknown> {
  const columns: Record<string, unknown> = {}
  if (isBranch(payload)) fill({ columns, count: 0 }, payload, '')
  else setOwn(columns, 'value', payload)
  return columns
}

type Sheet = { readonly columns: Record<string, unknown>; count: number }

function fill(sheet: Sheet, branch: object, prefix: string): void {
  for (const key in branch) {
    if (sheet.count >= COLUMNS_MAX) return
    if (!Object.hasOwn(branch, key)) continue
    const value: unknown = Reflect.get(branch, key)
    const column = prefix + key.replaceAll('\\', '\\\\').replaceAll('.', '\\.')
    if (column.length > LIMITS.conditionPathCharsMax) continue
    if (isBranch(value) && !isEmpty(value)) {
      fill(sheet, value, `${column}.`)
    } else {
      setOwn(sheet.columns, column, value)
      sheet.count += 1
    }
  }
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isRawNumber(value)
}

function isEmpty(branch: object): boolean {
  for (const key in branch) if (Object.hasOwn(branch, key)) return false
  return true
}
