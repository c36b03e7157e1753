import { columnPath, isMetaColumn, type MetaColumn } from './column.ts'
import { charsOf, flatten, isBranch, isEmpty } from './flatten.ts'
import { setOwn } from '../json/own-property.ts'
import { readPath } from '../routing/dot-path.ts'

/** Records as rows of a table (contract part 4, "Records rules"), up to a length that the caller sets. */
export type SheetRecord = {
  readonly id: string
  readonly received_at: string
  readonly source: string
  readonly payload: unknown
}

export type Column = { readonly key: string; readonly label: string }
export type Row = Readonly<Record<string, unknown>>

export type Sheet = {
  /** Returns whether the row was added. A row is added as a whole or not at all; a later, shorter row may still fit. */
  add(record: SheetRecord): boolean
  readonly rows: readonly Row[]
  /** The keys of all rows without a view, in the order of their first occurrence. */
  readonly keys: ReadonlySet<string>
}

/** The cost of a column in the two lists of columns: its key and its label. */
const CHARS_PER_COLUMN = 64

/** Without a view, a row is complete. With a view, it has `_id` and exactly the columns of the view, in its order. */
export function sheetOf({ view, charsMax }: { view: readonly Column[] | null; charsMax: number }): Sheet {
  const rows: Row[] = []
  const keys = new Set<string>()
  const picks = view?.map(({ key }) => ({ key, read: readerOf(key) }))
  let chars = 0

  const addWhole = (record: SheetRecord): boolean => {
    const flat = flatten(record.payload, charsMax - chars)
    if (flat === undefined) return false
    const columns = Object.keys(flat.columns)
    const fresh = columns.filter((key) => !keys.has(key))
    const cost = flat.chars + fresh.reduce((sum, key) => sum + 4 * key.length + CHARS_PER_COLUMN, 0)
    if (chars + cost > charsMax) return false
    for (const key of fresh) keys.add(key)
    chars += cost
    // Copying needs `setOwn`, because a payload may have the key __proto__.
    const row: Record<string, unknown> = { _id: record.id, _received_at: record.received_at, _source: record.source }
    for (const key of columns) setOwn(row, key, flat.columns[key])
    rows.push(row)
    return true
  }

  const addPicked = (record: SheetRecord, columns: NonNullable<typeof picks>): boolean => {
    const row: Record<string, unknown> = { _id: record.id }
    let cost = 0
    for (const { key, read } of columns) {
      const value = read(record) ?? null
      cost += key.length + charsOf(value)
      setOwn(row, key, value)
    }
    if (chars + cost > charsMax) return false
    chars += cost
    rows.push(row)
    return true
  }

  return {
    add: (record) => (picks === undefined ? addWhole(record) : addPicked(record, picks)),
    rows,
    keys,
  }
}

const META: Readonly<Record<MetaColumn, (record: SheetRecord) => unknown>> = {
  _id: ({ id }) => id,
  _received_at: ({ received_at }) => received_at,
  _source: ({ source }) => source,
}

/** Reads the value of a view's column: the value that `flatten` would have put under that key. */
function readerOf(key: string): (record: SheetRecord) => unknown {
  if (isMetaColumn(key)) return META[key]
  const path = columnPath(key)
  return ({ payload }) => {
    if (!isBranch(payload)) return key === 'value' ? payload : undefined
    const value = readPath(payload, path)
    return isBranch(value) && !isEmpty(value) ? undefined : value
  }
}
