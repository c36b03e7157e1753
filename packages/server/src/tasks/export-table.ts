import { encodeId } from '@postroad/contract/plain'
import { csvCell, csvJoined } from '@postroad/contract/csv'
import { cellReader, cellText, isNumeric, type RowSource } from '../domain/capture/record-cells.ts'
import { isRawNumber, parseStoredJson } from '../domain/json/json-text.ts'
import { task } from '../platform/heavy/task.ts'
import type { ParquetColumn, ParquetPart, ParquetType } from '../platform/parquet.ts'

/** One column of a table of records. */
export type Column = { readonly path: string; readonly type: ParquetType | 'json' }

/** A stored record with the text of its payload, as it came in. */
export type StoredRecord = {
  readonly id: string
  readonly dataset: string
  readonly received_at: Date
  readonly data: string
}

type Records = { readonly columns: readonly Column[]; readonly records: readonly StoredRecord[] }

/**
 * Records as lines of a CSV file. Numbers are written as they came in. Text that a spreadsheet would run as a formula gets an apostrophe in
 * front, as in every CSV file of Postroad.
 */
export const csvLines = task('export.csv', ({ columns, records }: Records): string => {
  const readers = columns.map(({ path }) => cellReader(path))
  const lines = records.map((record) => {
    const row = rowOf(record)
    return csvJoined([row.id, csvCell(row.received_at.toISOString()), ...readers.map((read) => csvValue(read(row)))])
  })
  return lines.join('')
})

function csvValue(value: unknown): string {
  if (value === undefined || value === null) return ''
  return isNumeric(value) ? cellText(value) : csvCell(cellText(value))
}

function rowOf(record: StoredRecord): RowSource {
  const parsed = parseStoredJson(record.data)
  return {
    id: encodeId('record', record.id),
    received_at: record.received_at,
    payload: parsed.ok ? parsed.value : null,
  }
}

/**
 * Records as a row group of a Parquet file: `_id`, `_received_at`, `_data` with the payload as it came in, and the columns. A value of
 * another type than its column is null there; `_data` has it.
 */
export const parquetRows = task(
  'export.parquet',
  async ({ columns, records, offset }: Records & { readonly offset: number }): Promise<ParquetPart> => {
    const { parquetGroup } = await import('../platform/parquet.ts')
    const rows = records.map(rowOf)
    const cells = [
      rows.map(({ id }) => id),
      rows.map(({ received_at }) => received_at),
      records.map(({ data }) => data),
      ...columns.map(({ path, type }) => {
        const read = cellReader(path)
        return rows.map((row) => typed(read(row), type))
      }),
    ]
    return parquetGroup(headsOf(columns), cells, offset)
  },
)

type Ending = { readonly columns: readonly Column[]; readonly groups: readonly Uint8Array[]; readonly offset: number }

/** The end of a Parquet file. */
export const parquetEnd = task(
  'export.parquet-end',
  async ({ columns, groups, offset }: Ending): Promise<Uint8Array> => {
    const { parquetFooter } = await import('../platform/parquet.ts')
    return parquetFooter(headsOf(columns), groups, offset)
  },
)

function headsOf(columns: readonly Column[]): readonly ParquetColumn[] {
  return [
    { name: '_id', type: 'string' },
    { name: '_received_at', type: 'timestamp' },
    { name: '_data', type: 'string' },
    ...columns.map(({ path, type }) => ({ name: path, type: type === 'json' ? ('string' as const) : type })),
  ]
}

const INT64_MAX = 2n ** 63n

function typed(value: unknown, type: Column['type']): string | number | bigint | boolean | null {
  if (value === undefined || value === null) return null
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'double':
      return isNumeric(value) ? Number(cellText(value)) : null
    case 'int64':
      return integerOf(value)
    case 'timestamp':
      return null
    case 'json':
      return cellText(value)
  }
}

function integerOf(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null
  if (!isRawNumber(value) || !/^-?\d{1,19}$/.test(value.rawJSON)) return null
  const integer = BigInt(value.rawJSON)
  return integer < INT64_MAX && integer >= -INT64_MAX ? integer : null
}
