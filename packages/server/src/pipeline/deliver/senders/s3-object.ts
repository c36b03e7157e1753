import { hash } from 'node:crypto'
import type { DestinationConfig } from '@postroad/contract'
import { parquetFile, type ParquetColumn } from '../../../platform/parquet.ts'

type S3 = Extract<DestinationConfig, { readonly kind: 's3' }>

/** One event of an object. */
export type ObjectRow = {
  readonly id: string
  readonly dataset: string
  readonly received_at: Date
  readonly body: string
}

const DIGEST_CHARS = 16

/**
 * The name of the object with these events. It follows from their ids alone, so a repeat of the same batch overwrites its object. The
 * date is that of the first event.
 */
export function objectKey({ prefix, format }: S3, rows: readonly ObjectRow[]): string {
  const ids = rows.map(({ id }) => id).toSorted()
  const first = rows.find(({ id }) => id === ids[0])
  if (first === undefined) throw new Error('An object has at least one event.')
  const [date = ''] = first.received_at.toISOString().split('T')
  const digest = hash('sha256', ids.join('\n'), 'hex').slice(0, DIGEST_CHARS)
  return `${prefix}${first.dataset}/${date.replaceAll('-', '/')}/${first.id}-${rows.length}-${digest}.${format}`
}

/** The URL of an object at the endpoint. */
export function objectUrl({ bucket, path_style }: S3, { endpoint, key }: { endpoint: string; key: string }): string {
  const { protocol, host } = new URL(endpoint)
  const path = key.split('/').map(encodeURIComponent).join('/')
  return path_style ? `${protocol}//${host}/${bucket}/${path}` : `${protocol}//${bucket}.${host}/${path}`
}

const COLUMNS: readonly ParquetColumn[] = [
  { name: 'id', type: 'string' },
  { name: 'dataset', type: 'string' },
  { name: 'received_at', type: 'timestamp' },
  { name: 'body', type: 'string' },
]

export const CONTENT_TYPES = { ndjson: 'application/x-ndjson', parquet: 'application/vnd.apache.parquet' } as const

/** The content of the object, in the order of the ids, so the same events are the same bytes. */
export async function objectBody({ format }: S3, rows: readonly ObjectRow[]): Promise<Uint8Array> {
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (format === 'ndjson') return Buffer.from(sorted.map(({ body }) => `${onOneLine(body)}\n`).join(''))
  const cells = [
    sorted.map(({ id }) => id),
    sorted.map(({ dataset }) => dataset),
    sorted.map(({ received_at }) => received_at),
    sorted.map(({ body }) => body),
  ]
  const chunks: Uint8Array[] = []
  for await (const chunk of parquetFile(COLUMNS, once(cells))) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* once<T>(value: T): AsyncIterable<T> {
  yield value
}

/** In JSON, a line break is possible only between values, where it means nothing. */
const onOneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, ' ')
