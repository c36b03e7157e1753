import type { IncomingMessage } from 'node:http'
import { DATA_FORMATS, DataQuery, DATASET_NAME, decodeId, type DataFormat } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Deps } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { sentenceOf } from '../../resources/input-sentence.ts'
import type { DataReader } from '../../resources/serving/data-keys/index.ts'
import {
  columnsFor,
  csvFile,
  findStored,
  findNamed,
  listReadableDatasets,
  parquetTable,
  readNewest,
  readOldest,
  recordJson,
  type NamedDataset,
  type StoredPage,
} from '../../resources/serving/stored-records/index.ts'
import { createStreamReader, type StreamReader } from '../../resources/serving/stream/index.ts'
import type { RequestRates } from '../request-rates.ts'
import { formatOf } from './format.ts'
import { admitReader, checkDataset } from './ladder.ts'
import { sendBody } from './send.ts'

type DataParts = {
  readonly deps: Deps
  readonly rates: RequestRates
  readonly sourceIp: (request: IncomingMessage) => string | undefined
}
type Door = DataParts & { readonly reader: StreamReader }
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }
type Serving = Exchange & { readonly as: DataReader }

const PREFLIGHT = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': 'Authorization, If-None-Match',
  'Access-Control-Max-Age': '86400',
}
const FORMATS: readonly DataFormat[] = ['json', 'ndjson', 'csv', 'parquet']

/** `/v1/data`: the captured data, for the programs of a project (contract part 5, Data API key). */
export function mountData(fastify: FastifyInstance, parts: DataParts): void {
  const door: Door = { ...parts, reader: createStreamReader(parts.deps) }
  const get = (url: string, serve: (door: Door, serving: Serving) => Promise<FastifyReply>): void => {
    fastify.route({
      method: 'GET',
      url,
      handler: async (request, reply) => {
        // A page of any origin may read with a key, because only the key counts and cookies are ignored.
        reply.headers({ 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED })
        reply.header('X-Content-Type-Options', 'nosniff')
        const ip = door.sourceIp(request.raw)
        const as = await admitReader({ deps: door.deps, rates: door.rates, ip, reply }, request)
        return serve(door, { request, reply, as })
      },
    })
    // A browser sends a preflight for a page that puts its key into a header (Fetch, CORS).
    fastify.options(url, (_request, reply) => reply.status(204).headers(PREFLIGHT).send())
  }
  get('/v1/data', sendDatasets)
  get('/v1/data/:dataset', sendRecords)
  get('/v1/data/:dataset/:record_id', sendRecord)
}

const EXPOSED = 'ETag, Link, Next-Cursor, Request-Id, Resume-Cursor, Retry-After'

async function sendDatasets({ deps }: Door, { as, ...exchange }: Serving): Promise<FastifyReply> {
  const { workspaceId, projectId, key } = as
  const rows = await listReadableDatasets(deps.database.forWorkspace(workspaceId), {
    workspaceId,
    projectId,
    names: key.datasets,
  })
  const datasets = rows.map(({ name, description, last_record_at }) => ({
    name,
    description,
    last_record_at: last_record_at?.toISOString() ?? null,
  }))
  return sendBody(exchange, { type: JSON_TYPE, bytes: Buffer.from(JSON.stringify({ datasets })) })
}

const JSON_TYPE = 'application/json; charset=utf-8'

async function sendRecord({ deps }: Door, { as, ...exchange }: Serving): Promise<FastifyReply> {
  const dataset = await readableDataset(deps, { as, ...exchange })
  const id = decodeId('record', textOf(exchange.request.params, 'record_id'))
  const record = id === undefined ? undefined : await findStored(deps, { ...as, id, dataset: dataset.name })
  if (record === undefined)
    throw refuse('not_found', 'This dataset has no record with this id. Check the id, and the name of the dataset.')
  return sendBody(exchange, { type: JSON_TYPE, bytes: Buffer.from(`{"record":${recordJson(record)}}`) })
}

async function sendRecords(door: Door, { as, ...exchange }: Serving): Promise<FastifyReply> {
  const { deps, reader } = door
  const format = wantedFormat(exchange.request)
  const dataset = await readableDataset(deps, { as, ...exchange })
  const query = readQuery(exchange.request)
  const at = { workspaceId: as.workspaceId, projectId: as.projectId }
  const read = query.order === 'asc' ? readOldest : readNewest
  const page = await read({ deps, reader, at }, { ...query, dataset: dataset.name })
  const headers = cursorHeaders(door, exchange, page)
  const { type, bytes } = await written(deps, page, { format, at: { ...at, dataset }, columns: query.columns })
  return sendBody(exchange, { type, bytes, headers })
}

/** Checks the key before the dataset, so that a key learns nothing about datasets that it may not read. */
async function readableDataset(deps: Deps, { as, request }: Serving): Promise<NamedDataset> {
  const name = textOf(request.params, 'dataset')
  checkDataset(as, name)
  const dataset = DATASET_NAME.test(name) ? await findNamed(deps, { ...as, name }) : undefined
  if (dataset !== undefined) return dataset
  throw refuse('not_found', `This project has no dataset "${name.slice(0, 70)}". GET /v1/data lists its datasets.`)
}

function wantedFormat(request: FastifyRequest): DataFormat {
  const named = textOf(request.query, 'format')
  if (named !== '') {
    const format = FORMATS.find((one) => one === named)
    if (format === undefined) throw refuse('invalid_request', 'format must be json, ndjson, csv or parquet.')
    return format
  }
  const format = formatOf(request.headers.accept, FORMATS)
  if (format === undefined) throw refuse('not_acceptable')
  return format
}

function readQuery(request: FastifyRequest): z.output<typeof DataQuery> {
  const result = DataQuery.safeParse(request.query)
  if (result.success) return result.data
  throw refuse('invalid_request', sentenceOf(result.error.issues, { value: request.query, where: 'query' }))
}

function textOf(members: unknown, name: string): string {
  if (typeof members !== 'object' || members === null) return ''
  const value: unknown = Object.hasOwn(members, name) ? Reflect.get(members, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** The cursors of a page for formats without a place for them, and the address of the next page (RFC 8288). */
function cursorHeaders({ deps }: Door, { request }: Exchange, page: StoredPage): Record<string, string> {
  const headers: Record<string, string> = {}
  if (page.resume_cursor !== null) headers['Resume-Cursor'] = page.resume_cursor
  if (page.next_cursor === null) return headers
  const next = new URL(request.url, deps.baseUrl())
  next.searchParams.set('cursor', page.next_cursor)
  return { ...headers, 'Next-Cursor': page.next_cursor, Link: `<${next.href}>; rel="next"` }
}

type Writing = {
  readonly format: DataFormat
  readonly at: { readonly workspaceId: string; readonly projectId: string; readonly dataset: NamedDataset }
  readonly columns: readonly string[] | undefined
}

async function written(
  deps: Deps,
  page: StoredPage,
  { format, at, columns: asked }: Writing,
): Promise<{ readonly type: string; readonly bytes: Buffer }> {
  const { records, ...cursors } = page
  if (format === 'json') {
    const rest = JSON.stringify(cursors).slice(1)
    return { type: JSON_TYPE, bytes: Buffer.from(`{"records":[${records.map(recordJson).join(',')}],${rest}`) }
  }
  if (format === 'ndjson')
    return {
      type: DATA_FORMATS.ndjson,
      bytes: Buffer.from(records.map((record) => `${recordJson(record)}\n`).join('')),
    }
  const columns = await columnsFor(deps, { ...at, asked })
  const writing = { heavy: deps.heavy, workspaceId: at.workspaceId, columns, pages: [records] }
  return format === 'csv'
    ? { type: 'text/csv; charset=utf-8; header=present', bytes: await gathered(csvFile(writing)) }
    : { type: DATA_FORMATS.parquet, bytes: await gathered(parquetTable(writing)) }
}

async function gathered(chunks: AsyncIterable<string | Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of chunks) parts.push(Buffer.from(chunk))
  return Buffer.concat(parts)
}
