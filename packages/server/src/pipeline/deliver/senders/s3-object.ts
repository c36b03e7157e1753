import { hash } from 'node:crypto'
import type { DestinationConfig } from '@postroad/contract'
import type { ObjectRow } from '../../../tasks/write-object.ts'

type S3 = Extract<DestinationConfig, { readonly kind: 's3' }>

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

export const CONTENT_TYPES = { ndjson: 'application/x-ndjson', parquet: 'application/vnd.apache.parquet' } as const
