import { encodeId } from '@postroad/contract'
import { csvCell, csvJoined } from '@postroad/contract/csv'
import { cellReader, cellText, isNumeric, type RowSource } from '../../../domain/capture/record-cells.ts'
import { columnsOf, type DatasetSchema, type Field } from '../../../domain/capture/dataset-schema.ts'
import { isRawNumber, parseStoredJson } from '../../../domain/json/json-text.ts'
import { turnOfTheLoop } from '../../../platform/loop-turns.ts'
import { parquetFile, type ParquetColumn, type ParquetType } from '../../../platform/parquet.ts'
import type { StoredRecord } from './page.ts'

/** Records, page by page. */
export type Pages = AsyncIterable<readonly StoredRecord[]> | Iterable<readonly StoredRecord[]>

/** One column of a table of records. */
export type Column = { readonly path: string; readonly type: ParquetType | 'json' }

/** The columns of a table: the requested ones, otherwise the fields of the schema. */
export function tableColumns(schema: DatasetSchema, asked: readonly string[] | undefined): readonly Column[] {
  if (asked === undefined) return columnsOf(schema).map(({ path, field }) => ({ path, type: typeOf(field) }))
  return asked.map((path) => {
    const field = schema.fields.get(path)
    return { path, type: field === undefined ? 'json' : typeOf(field) }
  })
}

/** The type of a column whose values nearly all have it; `json` when they have several. */
function typeOf({ types }: Field): Column['type'] {
  const named = Object.keys(types)
    .filter((type) => type !== 'null' && type !== 'object')
    .toSorted()
    .join(' ')
  return TYPES[named] ?? 'json'
}

const TYPES: Readonly<Record<string, ParquetType>> = {
  string: 'string',
  integer: 'int64',
  number: 'double',
  'integer number': 'double',
  boolean: 'boolean',
}

const PAUSE_EVERY = 50

/**
 * Records as the lines of a CSV file. Numbers are written as they came in. Text that a spreadsheet would run as a formula gets an apostrophe in
 * front, as in every CSV file of Postroad.
 */
export async function* csvFile(columns: readonly Column[], pages: Pages): AsyncIterable<string> {
  const readers = columns.map(({ path }) => cellReader(path))
  yield csvJoined(['_id', '_received_at', ...columns.map(({ path }) => path)].map(csvCell))
  for await (const records of pages) {
    const lines: string[] = []
    for (const [index, record] of records.entries()) {
      if (index % PAUSE_EVERY === PAUSE_EVERY - 1) await turnOfTheLoop()
      const row = rowOf(record)
      lines.push(
        csvJoined([row.id, csvCell(row.received_at.toISOString()), ...readers.map((read) => csvValue(read(row)))]),
      )
    }
    if (lines.length > 0) yield lines.join('')
  }
}

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

/** About 20 ms of work. */
const CELLS_PER_GROUP = 50_000

/**
 * Records as a Parquet file: `_id`, `_received_at`, `_data` with the payload as it came in, and the columns. A value of another type than its
 * column is null there; `_data` has it.
 */
export function parquetTable(columns: readonly Column[], pages: Pages): AsyncIterable<Uint8Array> {
  const heads: readonly ParquetColumn[] = [
    { name: '_id', type: 'string' },
    { name: '_received_at', type: 'timestamp' },
    { name: '_data', type: 'string' },
    ...columns.map(({ path, type }) => ({ name: path, type: type === 'json' ? ('string' as const) : type })),
  ]
  return parquetFile(heads, groupsOf(columns, pages))
}

async function* groupsOf(columns: readonly Column[], pages: Pages) {
  const readers = columns.map(({ path, type }) => ({ read: cellReader(path), type }))
  const rowsMax = Math.max(50, Math.floor(CELLS_PER_GROUP / (columns.length + 3)))
  for await (const records of pages) {
    for (let from = 0; from < records.length; from += rowsMax) {
      const part = records.slice(from, from + rowsMax)
      const rows = part.map(rowOf)
      await turnOfTheLoop()
      yield [
        rows.map(({ id }) => id),
        rows.map(({ received_at }) => received_at),
        part.map(({ data }) => data),
        ...readers.map(({ read, type }) => rows.map((row) => typed(read(row), type))),
      ]
    }
  }
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
