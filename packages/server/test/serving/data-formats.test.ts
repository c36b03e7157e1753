import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { aDataKey, readData, type DataAnswer } from '../stage/data-client.ts'
import { aName, aWebhook, post, statement } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let key: string
let dataset: string
let datasetId: string

const PAYLOADS = [
  '{"n":1,"name":"Ada","total":-1.50,"buyer":{"city":"Rom","vip":true},"tags":["a","b"]}',
  '{"n":12345678901234567890,"name":"=1+1","total":2,"buyer":{"city":null}}',
  '{"n":"three","extra":{}}',
] as const

onWorldStage(
  async (made) => {
    ;({ world } = made)
    ;({ key } = await aDataKey(world, { requests_per_10_seconds: 1_000 }))
    dataset = aName('set').replaceAll(/[^A-Za-z0-9_]/g, '_')
    const { public_url: url } = await aWebhook(world, { dataset })
    for (const payload of PAYLOADS) {
      world.clock.advance(1)
      // oxlint-disable-next-line no-await-in-loop -- in this order
      await post(url, payload)
    }
    const { datasets } = (await world.admin('GET', 'datasets')).body
    datasetId = datasets.find(({ name }: { name: string }) => name === dataset).id
  },
  { loops: [] },
)

const as = (accept: string, query = 'order=asc'): Promise<DataAnswer> =>
  readData({ world, key }, `/${dataset}?${query}`, { accept })

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  const buffer = new ArrayBuffer(bytes.byteLength)
  new Uint8Array(buffer).set(bytes)
  return buffer
}

const rowsOf = (bytes: Uint8Array): Promise<readonly Record<string, unknown>[]> =>
  parquetReadObjects({ file: bufferOf(bytes) })

test('NDJSON has one record in each line, as it came in, and the cursors are headers', async () => {
  const page = await as('application/x-ndjson', 'order=asc&limit=2')
  assert.equal(page.headers.get('content-type'), 'application/x-ndjson')
  const lines = page.text.split('\n')
  assert.equal(lines.pop(), '')
  assert.deepEqual(
    lines.map((line) => line.slice(line.indexOf('"data":') + 7, -1)),
    PAYLOADS.slice(0, 2),
  )
  const cursor = page.headers.get('next-cursor') ?? ''
  assert.notEqual(cursor, '')
  const [, href = ''] = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '') ?? []
  assert.equal(new URL(href).searchParams.get('cursor'), cursor)
  const next = await fetch(href, { headers: { authorization: `Bearer ${key}`, accept: 'application/x-ndjson' } })
  assert.ok((await next.text()).endsWith(`"data":${PAYLOADS[2]}}\n`))
  assert.equal(next.headers.get('next-cursor'), null)
  assert.notEqual(next.headers.get('resume-cursor'), null)
})

test('CSV has a column for each field, numbers as they came in, and no cell that a spreadsheet would run', async () => {
  const page = await as('text/csv')
  assert.match(page.headers.get('content-type') ?? '', /^text\/csv/)
  const [head, ...lines] = page.text.trimEnd().split('\r\n')
  assert.equal(head, '"_id","_received_at","n","name","total","buyer.city","buyer.vip","tags"')
  const cells = lines.map((line) => line.split(',').slice(2).join(','))
  assert.deepEqual(cells, [
    '1,"Ada",-1.50,"Rom","true","[""a"",""b""]"',
    `12345678901234567890,"'=1+1",2,,,`,
    '"three",,,,,',
  ])
})

test('CSV has the requested columns, in their order', async () => {
  const page = await as('text/csv', 'order=asc&columns=buyer.city,%20n,none')
  assert.deepEqual(
    page.text
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(',').slice(2).join(',')),
    ['"buyer.city","n","none"', '"Rom",1,', ',12345678901234567890,', ',"three",'],
  )
})

test('Parquet has typed columns, and the whole payload of each record in a column', async () => {
  const page = await as('application/vnd.apache.parquet')
  assert.equal(page.headers.get('content-type'), 'application/vnd.apache.parquet')
  const rows = await rowsOf(page.bytes)
  assert.deepEqual(
    rows.map(({ _data }) => _data),
    PAYLOADS,
  )
  const [first, second, third] = rows
  assert.match(String(first?.['_id']), /^rec_/)
  assert.ok(first?.['_received_at'] instanceof Date)
  assert.deepEqual(
    [first['name'], first['total'], first['buyer.city'], first['buyer.vip'], first['tags']],
    ['Ada', -1.5, 'Rom', true, '["a","b"]'],
  )
  assert.equal(first['n'], '1', 'n has several types, so its column has JSON')
  assert.deepEqual([second?.['n'], second?.['name'], second?.['total']], ['12345678901234567890', '=1+1', 2])
  assert.deepEqual([third?.['n'], third?.['total']], ['three', null])
})

test('an empty page is an empty file in every format', async () => {
  const query = 'until=2000-01-01T00:00:00Z'
  assert.deepEqual((await as('application/json', query)).body.records, [])
  assert.equal((await as('application/x-ndjson', query)).text, '')
  assert.equal((await as('text/csv', query)).text.split('\r\n').length, 2)
  assert.deepEqual(await rowsOf((await as('application/vnd.apache.parquet', query)).bytes), [])
})

async function exported(format: string, query = ''): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const url = `${world.baseUrl}/admin/api/datasets/${datasetId}/export/${format}${query}`
  const response = await fetch(url, { headers: { authorization: `Bearer ${world.installed.api_key}` } })
  assert.match(response.headers.get('content-disposition') ?? '', new RegExp(`records\\.${format}`))
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
}

test('an export has all records of a dataset, oldest first, in each format', async () => {
  const lines = (await exported('ndjson')).bytes.toString().trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => line.slice(line.indexOf('"data":') + 7, -1)),
    PAYLOADS,
  )
  assert.equal((await exported('csv')).bytes.toString(), (await as('text/csv')).text)
  const rows = await rowsOf((await exported('parquet')).bytes)
  assert.deepEqual(
    rows.map(({ _data }) => _data),
    PAYLOADS,
  )
})

test('an export of thousands of records is written in row groups and pages, none missing and none twice', async () => {
  const many = aName('many').replaceAll(/[^A-Za-z0-9_]/g, '_')
  const { id } = (await world.admin('POST', 'datasets', { name: many })).body.dataset
  const { app } = world
  const { workspace, project } = world.installed
  const at = [decodeId('workspace', workspace.id), decodeId('project', project.id)].map((one) => `'${one}'::uuid`)
  const now = world.clock.now()
  await statement(
    app.deps.database,
    `with made as (
       select n, (lpad(to_hex(${now} + n), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid as id from generate_series(1, 2500) n
     ), sent as (
       insert into submissions (workspace_id, project_id, id, received_at, headers, body, body_size, decision, record_ids)
       select ${at.join()}, id, now(), '{}', format('{"n":%s}', n), 10, '{}', array[id] from made
     )
     insert into records (workspace_id, project_id, id, submission_id, dataset, received_at, hops)
     select ${at.join()}, id, id, '${many}', now(), 0 from made`,
  )
  datasetId = id
  const numbers = (await exported('ndjson')).bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).data.n)
  assert.deepEqual(
    numbers,
    Array.from({ length: 2_500 }, (_, n) => n + 1),
  )
  const { bytes } = await exported('parquet')
  assert.deepEqual(
    (await rowsOf(bytes)).map(({ n }) => Number(n)),
    numbers,
  )
  assert.ok(parquetMetadata(bufferOf(bytes)).row_groups.length > 1)
})
