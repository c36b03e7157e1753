import { hash } from 'node:crypto'
import { task } from '../platform/heavy/task.ts'
import type { ParquetColumn } from '../platform/parquet.ts'

/** One event of an object in a store. */
export type ObjectRow = {
  readonly id: string
  readonly dataset: string
  readonly received_at: Date
  readonly body: string
}

type Asked = { readonly format: 'ndjson' | 'parquet'; readonly rows: readonly ObjectRow[] }
type Written = { readonly body: Uint8Array; readonly sha256: string }

/** The content of an object and its digest, in the order of the ids, so the same events are the same bytes. */
export const writeObject = task('object.write', async ({ format, rows }: Asked): Promise<Written> => {
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const body =
    format === 'ndjson'
      ? Buffer.from(sorted.map(({ body: event }) => `${onOneLine(event)}\n`).join(''))
      : await parquetOf(sorted)
  return { body, sha256: hash('sha256', body, 'hex') }
})

const COLUMNS: readonly ParquetColumn[] = [
  { name: 'id', type: 'string' },
  { name: 'dataset', type: 'string' },
  { name: 'received_at', type: 'timestamp' },
  { name: 'body', type: 'string' },
]

async function parquetOf(rows: readonly ObjectRow[]): Promise<Uint8Array> {
  const { parquetFooter, parquetGroup } = await import('../platform/parquet.ts')
  const cells = [
    rows.map(({ id }) => id),
    rows.map(({ dataset }) => dataset),
    rows.map(({ received_at }) => received_at),
    rows.map(({ body }) => body),
  ]
  const { bytes, about, offset } = await parquetGroup(COLUMNS, cells, 0)
  return Buffer.concat([bytes, await parquetFooter(COLUMNS, [about], offset)])
}

/** In JSON, a line break is possible only between values, where it means nothing. */
const onOneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, ' ')
