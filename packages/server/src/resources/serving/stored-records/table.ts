import { csvCell, csvJoined } from '@postroad/contract/csv'
import type { Ctx } from '../../../context.ts'
import { columnsOf, type DatasetSchema, type Field } from '../../../domain/capture/dataset-schema.ts'
import { csvLines, parquetEnd, parquetRows, type Column, type StoredRecord } from '../../../tasks/export-table.ts'

export type { Column, StoredRecord } from '../../../tasks/export-table.ts'

/** Records, page by page. */
export type Pages = AsyncIterable<readonly StoredRecord[]> | Iterable<readonly StoredRecord[]>

/** The workspace whose records they are, and the threads that write them. */
type Writing = Pick<Ctx, 'heavy' | 'workspaceId'> & { readonly columns: readonly Column[]; readonly pages: Pages }

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

const TYPES: Readonly<Record<string, Column['type']>> = {
  string: 'string',
  integer: 'int64',
  number: 'double',
  'integer number': 'double',
  boolean: 'boolean',
}

/** A cell costs about this many characters besides its own. */
const CELL_WORK = 16

const workOf = (records: readonly StoredRecord[], columns: readonly Column[]): number =>
  records.reduce((sum, { data }) => sum + data.length + CELL_WORK * columns.length, 0)

/** Records as a CSV file, piece by piece. */
export async function* csvFile({ heavy, workspaceId, columns, pages }: Writing): AsyncIterable<string> {
  yield csvJoined(['_id', '_received_at', ...columns.map(({ path }) => path)].map(csvCell))
  for await (const records of pages) {
    const input = { columns, records }
    const lines = await heavy.run(csvLines, { workspaceId, input, work: workOf(records, columns) })
    if (lines !== '') yield lines
  }
}

/** About 20 ms of work. */
const CELLS_PER_GROUP = 50_000

/** Records as a Parquet file, group by group. */
export async function* parquetTable({ heavy, workspaceId, columns, pages }: Writing): AsyncIterable<Uint8Array> {
  const rowsMax = Math.max(50, Math.floor(CELLS_PER_GROUP / (columns.length + 3)))
  const groups: Uint8Array[] = []
  let offset = 0
  for await (const page of pages) {
    for (let from = 0; from < page.length; from += rowsMax) {
      const records = page.slice(from, from + rowsMax)
      const input = { columns, records, offset }
      // oxlint-disable-next-line no-await-in-loop -- each group starts where the previous one ended
      const part = await heavy.run(parquetRows, { workspaceId, input, work: workOf(records, columns) })
      groups.push(part.about)
      offset = part.offset
      yield part.bytes
    }
  }
  const work = groups.reduce((sum, { length }) => sum + length, 0)
  yield await heavy.run(parquetEnd, { workspaceId, input: { columns, groups, offset }, work })
}
