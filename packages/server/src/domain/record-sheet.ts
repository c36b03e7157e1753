import { LIMITS } from '@postroad/contract'
import { flatten } from './flatten.ts'
import { isRawNumber } from './json-text.ts'
import { setOwn } from './own-property.ts'

/** Records as a table: which columns there are, what stands in them, and in which order (contract part 4, "Records rules"). */
export type SheetRecord = {
  readonly id: string
  readonly received_at: string
  readonly source: string
  readonly payload: unknown
  /** How long the text of the payload is. */
  readonly chars: number
}

export type Column = { readonly key: string; readonly label: string }
export type SheetView = { readonly columns: readonly Column[]; readonly sort_key: string | null; readonly sort_dir: 'asc' | 'desc' }
export type Row = Readonly<Record<string, unknown>>

export type Sheet = { readonly columns: readonly Column[]; readonly available_columns: readonly Column[]; readonly rows: readonly Row[] }

const META: ReadonlySet<string> = new Set(['_id', '_received_at', '_source'])

/**
 * The table of these records, newest first. Without a view each row is whole; with one it has `_id` and exactly the
 * columns of the view, in its order. Columns are found in all the records, whatever the limit; a table grows to 16 Mi
 * characters and then leaves out what is older.
 */
export function recordSheet(records: readonly SheetRecord[], asked: { readonly view: SheetView | null; readonly limit: number }): Sheet {
  const { view, limit } = asked
  const whole = wholeRows(records)
  const available = discovered(whole)
  if (view === null) return { columns: available, available_columns: available, rows: whole.slice(0, limit) }
  const rows = sorted(whole, view).slice(0, limit)
  return { columns: view.columns, available_columns: available, rows: rows.map((row) => picked(row, view.columns)) }
}

/** The keys of a table grow with the depth of a payload, so that its text alone does not bound the table. */
function wholeRows(records: readonly SheetRecord[]): Row[] {
  const rows: Row[] = []
  let chars = 0
  for (const record of records) {
    if (chars >= LIMITS.storedPayloadsReadBytesMax) break
    const row = rowOf(record)
    rows.push(row)
    chars += record.chars
    for (const key of Object.keys(row)) chars += key.length
  }
  return rows
}

function rowOf(record: SheetRecord): Row {
  const row: Record<string, unknown> = { _id: record.id, _received_at: record.received_at, _source: record.source }
  for (const [key, value] of Object.entries(flatten(record.payload))) if (!META.has(key)) setOwn(row, key, value)
  return row
}

/** The keys of the payloads in the order in which they are first met. */
function discovered(rows: readonly Row[]): Column[] {
  const keys = new Set<string>()
  for (const row of rows) for (const key of Object.keys(row)) if (!META.has(key)) keys.add(key)
  return Array.from(keys, (key) => ({ key, label: key }))
}

function picked(row: Row, columns: readonly Column[]): Row {
  const picks: Record<string, unknown> = { _id: row['_id'] }
  for (const { key } of columns) setOwn(picks, key, valueOf(row, key) ?? null)
  return picks
}

function valueOf(row: Row, key: string): unknown {
  return Object.hasOwn(row, key) ? row[key] : undefined
}

function sorted(rows: readonly Row[], { sort_key: key, sort_dir }: SheetView): readonly Row[] {
  if (key === null) return rows
  const keyed = rows.map((row) => ({ row, rank: rankOf(valueOf(row, key)) }))
  return keyed.toSorted((a, b) => compareRanks(a.rank, b.rank, sort_dir === 'asc' ? 1 : -1)).map(({ row }) => row)
}

/** What a value is sorted by: numbers before text before true and false before what has no order; undefined: missing. */
type Rank = { readonly kind: number; readonly value: number | string; readonly digits?: string } | undefined

// Longer ones are not worth the time that a comparison of theirs takes.
const DIGITS = /^[+-]?\d{1,40}$/
const DECIMAL = /^[+-]?\d+(?:\.\d+)?$/

/** As in conditions, text that is a plain decimal is its number. */
function rankOf(value: unknown): Rank {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number') return { kind: 0, value }
  if (isRawNumber(value)) return { kind: 0, value: Number(value.rawJSON), digits: value.rawJSON }
  if (typeof value === 'boolean') return { kind: 2, value: Number(value) }
  if (typeof value !== 'string') return { kind: 3, value: 0 }
  const text = value.trim()
  return DECIMAL.test(text) ? { kind: 0, value: Number(text), digits: text } : { kind: 1, value }
}

/** `direction` turns the order round, but what is missing stays last. Equal ones keep their place: the newest first. */
function compareRanks(a: Rank, b: Rank, direction: 1 | -1): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return direction * (a.kind - b.kind || compareValues(a.value, b.value) || compareDigits(a, b))
}

function compareValues(a: number | string, b: number | string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Beyond 2^53 whole numbers that look alike to a double still differ. */
function compareDigits(a: NonNullable<Rank>, b: NonNullable<Rank>): number {
  const [left, right] = [a.digits ?? String(a.value), b.digits ?? String(b.value)]
  if (a.kind !== 0 || !DIGITS.test(left) || !DIGITS.test(right)) return 0
  const difference = BigInt(left) - BigInt(right)
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}
