import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from 'node:http'
import { decodeId, LIMITS } from '@postroad/contract'
import { sql, type Database, type Db } from '../../src/platform/db.ts'
import { aDataKey, readData, unzipped } from '../stage/data-client.ts'
import { aName, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database
let key: string
onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    ;({ key } = await aDataKey(world, { requests_per_10_seconds: LIMITS.dataKeyRequestsMax }))
  },
  { loops: [] },
)

const aDataset = (): string => aName('set').replaceAll(/[^A-Za-z0-9_]/g, '_')

/** Files these payloads in a new dataset, in this order and a millisecond apart. */
async function filed(...payloads: readonly string[]): Promise<string> {
  const dataset = aDataset()
  const { public_url: url } = await aWebhook(world, { dataset })
  for (const payload of payloads) {
    world.clock.advance(1)
    // oxlint-disable-next-line no-await-in-loop -- in this order
    assert.equal((await post(url, payload)).status, 201)
  }
  return dataset
}

const numbers = ({ body }: { readonly body: Answer['body'] }): readonly number[] =>
  body.records.map(({ data }: { data: { n: number } }) => data.n)
const counting = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `{"n":${n}}`)

/** All pages of a dataset, one after the other. */
async function allPages(dataset: string, query: string): Promise<readonly (readonly number[])[]> {
  const pages: (readonly number[])[] = []
  let cursor = ''
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each page starts where the previous one ended
    const page = await readData({ world, key }, `/${dataset}?${query}${cursor}`)
    assert.equal(page.status, 200, page.text)
    pages.push(numbers(page))
    if (page.body.next_cursor === null) return pages
    cursor = `&cursor=${encodeURIComponent(page.body.next_cursor)}`
  }
}

test('a record is the text that came in: numbers, key order and escapes', async () => {
  const payload = String.raw`{"big":12345678901234567890,"b":1.50,"a":"\u00e4","a":[1e400,-0]}`
  const dataset = await filed(payload)
  const { text, body } = await readData({ world, key }, `/${dataset}`)
  assert.ok(text.includes(`"data":${payload}}`), text)
  const [{ id, received_at }] = body.records
  const one = await readData({ world, key }, `/${dataset}/${id}`)
  assert.equal(
    one.text,
    `{"record":{"id":"${id}","dataset":"${dataset}","received_at":"${received_at}","data":${payload}}}`,
  )
})

test('pages go newest first, and records that arrive meanwhile change none of them', async () => {
  const dataset = await filed(...counting(5))
  const first = await readData({ world, key }, `/${dataset}?limit=2`)
  assert.deepEqual(numbers(first), [4, 3])
  const { public_url: url } = await aWebhook(world, { dataset })
  await post(url, '{"n":99}')
  const second = await readData({ world, key }, `/${dataset}?limit=2&cursor=${first.body.next_cursor}`)
  assert.deepEqual(numbers(second), [2, 1])
  const third = await readData({ world, key }, `/${dataset}?limit=2&cursor=${second.body.next_cursor}`)
  assert.deepEqual([numbers(third), third.body.next_cursor, third.body.reached], [[0], null, null])
})

test('with order=asc a copy reads every record once, also those that arrive later', async () => {
  const dataset = await filed(...counting(5))
  assert.deepEqual(await allPages(dataset, 'order=asc&limit=2'), [[0, 1], [2, 3], [4]])
  const whole = await readData({ world, key }, `/${dataset}?order=asc`)
  assert.deepEqual([numbers(whole), whole.body.next_cursor], [[0, 1, 2, 3, 4], null])
  const resume = `/${dataset}?order=asc&cursor=${encodeURIComponent(whole.body.resume_cursor)}`
  assert.deepEqual(numbers(await readData({ world, key }, resume)), [])
  const { public_url: url } = await aWebhook(world, { dataset })
  await post(url, '{"n":5}')
  assert.deepEqual(numbers(await readData({ world, key }, resume)), [5])
})

/** The rows that the group commit of some process writes. */
async function insertRecord(db: Db, of: { dataset: string; id: string; n: number }): Promise<void> {
  const workspace = decodeId('workspace', world.installed.workspace.id) ?? ''
  const project = decodeId('project', world.installed.project.id) ?? ''
  const [now, text] = [new Date(world.clock.now()), JSON.stringify({ n: of.n })]
  await db.run(sql`
    insert into submissions (workspace_id, project_id, id, received_at, headers, body, body_size, decision, record_ids)
    values (${workspace}, ${project}, ${of.id}, ${now}, '{}', ${text}, ${text.length}, '{}', ${[of.id]}::uuid[])
  `)
  await db.run(sql`
    insert into records (workspace_id, project_id, id, submission_id, dataset, received_at, hops)
    values (${workspace}, ${project}, ${of.id}, ${of.id}, ${of.dataset}, ${now}, 0)
  `)
}

test('a record that is committed late has a lower id than records that a copy has read, and the copy does not miss it', async () => {
  const dataset = await filed('{"n":0}')
  const late = world.app.deps.uuid()
  let page = await readData({ world, key }, `/${dataset}?order=asc`)
  await database.transaction(async (open) => {
    await insertRecord(open, { dataset, id: late, n: 1 })
    world.clock.advance(5)
    await database.transaction((db) => insertRecord(db, { dataset, id: world.app.deps.uuid(), n: 2 }))
    const query = `order=asc&cursor=${encodeURIComponent(page.body.resume_cursor)}`
    page = await readData({ world, key }, `/${dataset}?${query}`)
    assert.deepEqual(numbers(page), [2])
  })
  const rest = await readData(
    { world, key },
    `/${dataset}?order=asc&cursor=${encodeURIComponent(page.body.resume_cursor)}`,
  )
  assert.deepEqual(numbers(rest), [1])
})

test('since is inclusive and until is exclusive, in both orders', async () => {
  const dataset = await filed(...counting(6))
  const { body } = await readData({ world, key }, `/${dataset}?order=asc`)
  const [since, until] = [body.records[1].received_at, body.records[4].received_at]
  assert.deepEqual(await allPages(dataset, `since=${since}&until=${until}`), [[3, 2, 1]])
  assert.deepEqual(await allPages(dataset, `since=${since}&until=${until}&limit=2`), [[3, 2], [1]])
  assert.deepEqual(await allPages(dataset, `order=asc&since=${since}&until=${until}`), [[1, 2, 3]])
  assert.deepEqual(await allPages(dataset, `order=asc&since=${since}&until=${until}&limit=2`), [[1, 2], [3]])
  const closed = await readData({ world, key }, `/${dataset}?order=asc&since=${since}&until=${until}`)
  assert.deepEqual([closed.body.next_cursor, closed.body.resume_cursor], [null, null])
})

test('a filter by field accepts the conditions of rules, in both orders and over pages', async () => {
  const dataset = await filed(
    '{"n":0,"to":{"city":"Rom"}}',
    '{"n":1,"to":{"city":"Bern"}}',
    '{"n":2}',
    '{"n":30,"to":{"city":"Bern"}}',
  )
  assert.deepEqual((await allPages(dataset, 'f=to.city:equals:Bern')).flat(), [30, 1])
  assert.deepEqual((await allPages(dataset, 'order=asc&f=to.city:equals:Bern&limit=1')).flat(), [1, 30])
  assert.deepEqual((await allPages(dataset, 'f=n:gte:2&f=to:exists')).flat(), [30])
  assert.deepEqual((await allPages(dataset, 'order=asc&f=to.city:contains:o')).flat(), [0])
  const bad = await readData({ world, key }, `/${dataset}?f=n:above:2`)
  assert.deepEqual([bad.status, bad.body.reason], [400, 'invalid_request'])
})

test('a path that cannot be the name of a dataset is 404', async () => {
  for (const name of ['a%00', 'a-b', '1', 'a'.repeat(100), '%F0%9F%98%80']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, body } = await readData({ world, key }, `/${name}`)
    assert.deepEqual([status, body.reason], [404, 'not_found'], name)
  }
})

test('a bad query gets one sentence that names the parameter', async () => {
  const dataset = await filed('{}')
  for (const [query, sentence] of [
    ['limit=0', /^limit:? /],
    ['limit=5000', /^limit:? /],
    ['order=up', /^order:? /],
    ['since=yesterday', /^since must be a time/],
    ['cursor=nonsense!', /^The cursor is not valid/],
    ['order=asc&cursor=nonsense', /^The cursor is not valid/],
    ['order=asc&cursor=1-1~1-1~zzzzzzzzzz', /^The cursor is not valid/],
    ['format=xml', /^format must be json/],
    ['columns=a..b', /^columns:? /],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, body } = await readData({ world, key }, `/${dataset}?${query}`)
    assert.deepEqual([status, body.reason], [400, 'invalid_request'], query)
    assert.match(body.error, sentence)
  }
})

test('an ETag answers an unchanged page with 304 and no body', async () => {
  const dataset = await filed('{"n":1}')
  for (const path of ['', `/${dataset}`, `/${dataset}?format=csv`]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const first = await readData({ world, key }, path)
    const etag = first.headers.get('etag') ?? ''
    assert.match(etag, /^W\/"[\w-]{27}"$/)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const again = await readData({ world, key }, path, { 'if-none-match': `"other", ${etag}` })
    assert.deepEqual([again.status, again.bytes.length, again.headers.get('etag')], [304, 0, etag])
  }
  const { headers } = await readData({ world, key }, `/${dataset}`)
  const { public_url: url } = await aWebhook(world, { dataset })
  await post(url, '{"n":2}')
  const changed = await readData({ world, key }, `/${dataset}`, { 'if-none-match': headers.get('etag') ?? '' })
  assert.equal(changed.status, 200)
})

test('a long page is compressed for a client that accepts gzip', async () => {
  const dataset = await filed(JSON.stringify({ n: 1, text: 'long '.repeat(1_000) }))
  const raw = await new Promise<{ coding: string | undefined; bytes: Buffer }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'br, gzip' }
    request(`${world.baseUrl}/v1/data/${dataset}`, { headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => resolve({ coding: response.headers['content-encoding'], bytes: Buffer.concat(parts) }))
    })
      .on('error', reject)
      .end()
  })
  assert.equal(raw.coding, 'gzip')
  assert.ok(raw.bytes.length < 1_000)
  assert.equal(JSON.parse(unzipped(raw.bytes)).records[0].data.n, 1)
})

test('a page in a browser can read with a key in a header', async () => {
  const preflight = await fetch(`${world.baseUrl}/v1/data/events`, { method: 'OPTIONS' })
  assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, '*'])
  const { headers } = await readData({ world, key }, '', { origin: 'https://notebook.example' })
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.match(headers.get('access-control-expose-headers') ?? '', /Next-Cursor/)
})

test('a page has at most 8 MiB of payloads and one record more, and its cursor continues after them', async () => {
  const dataset = aDataset()
  const { public_url: url } = await aWebhook(world, { dataset })
  const large = 'ж'.repeat(450_000)
  for (let n = 0; n < 12; n += 1) {
    world.clock.advance(1)
    // oxlint-disable-next-line no-await-in-loop -- in this order
    await post(url, JSON.stringify({ n, large }))
  }
  const page = await readData({ world, key }, `/${dataset}?order=asc&limit=100`)
  assert.equal(numbers(page).length, 10)
  const all = [...Array.from({ length: 12 }).keys()]
  assert.deepEqual((await allPages(dataset, 'order=asc&limit=100')).flat(), all)
  assert.equal(numbers(await readData({ world, key }, `/${dataset}?limit=100`)).length, 10)
  assert.deepEqual((await allPages(dataset, 'limit=100')).flat(), all.toReversed())
})

test('a record of another project or dataset is not found', async () => {
  const [mine, other] = [await filed('{"n":1}'), await filed('{"n":2}')]
  const id = (await readData({ world, key }, `/${other}`)).body.records[0].id
  assert.equal((await readData({ world, key }, `/${mine}/${id}`)).status, 404)
  assert.equal((await readData({ world, key }, `/${mine}/nonsense`)).status, 404)
  const project = (await world.admin('POST', 'projects', { name: aName('project') })).body.project.id
  const theirs = (await world.admin('POST', `projects/${project}/data-keys`, { name: 'Reader' })).body.key
  assert.deepEqual((await readData({ world, key: theirs }, '')).body.datasets, [])
  assert.equal((await readData({ world, key: theirs }, `/${other}`)).status, 404)
  assert.equal((await readData({ world, key: theirs }, `/${other}/${id}`)).status, 404)
})
