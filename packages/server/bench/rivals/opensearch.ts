/** OpenSearch over HTTP: an index with the same events, asked the same questions. */
import { Pool } from 'undici'
import { nowMs } from '../statistics.ts'

export type IndexedEvent = { readonly n: number; readonly body: string; readonly headers: string }

export type OpenSearch = {
  readonly name: string
  /** Stores and indexes the events. Returns the milliseconds that this took; undefined: it has them already. */
  fill(read: AsyncIterable<readonly IndexedEvent[]>, count: number): Promise<number | undefined>
  /** The number of the newest events that match, a page at most. */
  ask(filters: readonly object[], limit: number): Promise<number>
  bytes(): Promise<number>
  remove(): Promise<void>
  close(): Promise<void>
}

/**
 * OpenSearch finds parts of a text in a `wildcard` field, and the value of a member in a `keyword` field. It sorts each segment by
 * time, so that a search can stop after the newest matches.
 */
const MAPPING = {
  settings: {
    number_of_shards: 1,
    number_of_replicas: 0,
    refresh_interval: '60s',
    sort: { field: 'n', order: 'desc' },
  },
  mappings: {
    dynamic_templates: [{ texts: { match_mapping_type: 'string', mapping: { type: 'keyword' } } }],
    properties: { n: { type: 'long' }, text: { type: 'wildcard', normalizer: 'lowercase' } },
  },
}
const LONG_MS = 600_000
/** Each bulk uses one core. */
const BULKS = 2

/** The server at this address, for an index of this many events. */
export async function openSearchAt(url: string, count: number): Promise<OpenSearch> {
  const { origin } = new URL(url)
  const pool = new Pool(origin, { connections: BULKS, headersTimeout: LONG_MS, bodyTimeout: LONG_MS })
  const index = `postroad-bench-${count}`
  const send = async <Answer>(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, body?: string) => {
    const response = await pool.request({
      path,
      method,
      headers: { 'content-type': path.endsWith('/_bulk') ? 'application/x-ndjson' : 'application/json' },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.body.text()
    if (response.statusCode > 299)
      throw new Error(`OpenSearch answered ${response.statusCode} to ${method} ${path}: ${text}`)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the members it reads
    return JSON.parse(text) as Answer
  }
  const { version } = await send<{ version: { number: string } }>('GET', '/')
  const remove = async (): Promise<void> => void (await send('DELETE', `/${index}?ignore_unavailable=true`))
  return {
    name: `OpenSearch ${version.number}`,
    fill: async (read, expected) => {
      const stored = await send<{ count: number }>('GET', `/${index}/_count?ignore_unavailable=true`)
      if (stored.count === expected) return undefined
      await remove()
      await send('PUT', `/${index}`, JSON.stringify(MAPPING))
      const began = nowMs()
      const underWay = new Set<Promise<void>>()
      for await (const events of read) {
        const one = send<{ errors: boolean }>('POST', `/${index}/_bulk`, events.map(documentOf).join(''))
          .then(({ errors }) => {
            if (errors) throw new Error('OpenSearch refused an event.')
          })
          .finally(() => underWay.delete(one))
        underWay.add(one)
        if (underWay.size >= BULKS) await Promise.race(underWay)
      }
      await Promise.all(underWay)
      await send('POST', `/${index}/_refresh`)
      return nowMs() - began
    },
    ask: async (filters, limit) => {
      const query = {
        size: limit,
        sort: [{ n: 'desc' }],
        track_total_hits: false,
        query: { bool: { filter: filters } },
      }
      const { hits } = await send<{ hits: { hits: readonly unknown[] } }>(
        'POST',
        `/${index}/_search?request_cache=false`,
        JSON.stringify(query),
      )
      return hits.hits.length
    },
    bytes: async () => {
      type Stats = { indices: Record<string, { primaries: { store: { size_in_bytes: number } } }> }
      const { indices } = await send<Stats>('GET', `/${index}/_stats/store`)
      return indices[index]?.primaries.store.size_in_bytes ?? NaN
    },
    remove,
    close: () => pool.close(),
  }
}

const documentOf = ({ n, body, headers }: IndexedEvent): string =>
  `{"index":{"_id":"${n}"}}\n{"n":${n},"text":${JSON.stringify(body)},"payload":${body},"headers":${headers}}\n`
