import { columnPath, isMetaColumn, type MetaColumn } from './column.ts'
import { charsOf, isBranch, isEmpty, type Flat } from './flatten.ts'
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

/** A row, and the length that it takes in the table beside new columns. */
export type SheetRow = { readonly row: Row; readonly chars: number }

/** A row with `_id` and exactly the columns of a view, in its order. */
export function rowWriter(view: readonly Column[]): (record: SheetRecord) => SheetRow {
  const picks = view.map(({ key }) => ({ key, read: readerOf(key) }))
  return (record) => {
    const row: Record<string, unknown> = { _id: record.id }
    let chars = 0
    for (const { key, read } of picks) {
      const value = read(record) ?? null
      chars += key.length + charsOf(value)
      setOwn(row, key, value)
    }
    return { row, chars }
  }
}

/** A complete row. */
export function rowOf(record: SheetRecord, { columns }: Flat): Row {
  // Copying needs `setOwn`, because a payload may have the key __proto__.
  const row: Record<string, unknown> = { _id: record.id, _received_at: record.received_at, _source: record.source }
  for (const key of Object.keys(columns)) setOwn(row, key, columns[key])
  return row
}

/** The cost of a column in the two lists of columns: its key and its label. */
const CHARS_PER_COLUMN = 64

/** The rows of a table as JSON, up to a length. */
export class Sheet {
  readonly rows: string[] = []
  /** The columns of all rows without a view, in the order of their first occurrence. */
  readonly keys = new Set<string>()
  #charsLeft: number

  constructor(charsMax: number) {
    this.#charsLeft = charsMax
  }

  get charsLeft(): number {
    return this.#charsLeft
  }

  /** Returns whether the row was added. It is added as a whole or not at all; a later, shorter row may still fit. */
  add(row: { readonly json: string; readonly chars: number }, columns: readonly string[]): boolean {
    const fresh = columns.filter((key) => !this.keys.has(key))
    const cost = row.chars + fresh.reduce((sum, key) => sum + 4 * key.length + CHARS_PER_COLUMN, 0)
    if (cost > this.#charsLeft) return false
    for (const key of fresh) this.keys.add(key)
    this.#charsLeft -= cost
    this.rows.push(row.json)
    return true
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
