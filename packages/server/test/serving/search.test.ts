import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, anIngestKey, aRule, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** `search/deliveries` and `search/events`, by the query names of the contract. No delivery is sent here. */
let world: World
let database: Database
let webhook: Body
let one: Body
let other: Body

type Body = Answer['body']
const EVENTS = 12

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    webhook = await aWebhook(world, { dataset: 'Orders' })
    one = (await aDestination(world, { url: 'https://example.com/', datasets: ['Orders'] })).destination
    other = (await aDestination(world, { url: 'https://example.org/', datasets: ['Orders', 'Refunds'] })).destination
    for (let n = 0; n < EVENTS; n += 1) {
      const body = JSON.stringify({
        n,
        customer: n % 3 === 0 ? 'Ärzte & Söhne' : 'somebody',
        'a:b': n === 5 ? 'colon' : '-',
      })
      assert.equal((await post(`${webhook.public_url}${n % 4 === 0 ? '/Refunds' : ''}`, body)).status, 201)
      world.clock.advance(1_000)
    }
    await database.run(
      sql`update deliveries set state = 'failed', next_attempt_at = null where destination_id = ${decodeId('destination', one.id) ?? ''}`,
    )
  },
  { env: { ROLES: 'web' }, loops: [] },
)

async function get(
  what: 'deliveries' | 'events',
  query: Record<string, string> | readonly (readonly [string, string])[],
): Promise<Answer> {
  return world.admin('GET', `search/${what}?${new URLSearchParams(query as Record<string, string>).toString()}`)
}

/** All pages of a search, each item once. */
async function all(
  what: 'deliveries' | 'events',
  query: Record<string, string> | readonly (readonly [string, string])[],
): Promise<Body[]> {
  const found: Body[] = []
  let cursor: string | null = null
  do {
    const pairs: [string, string][] = [
      ...new URLSearchParams(query as Record<string, string>),
      ...(cursor === null ? [] : [['cursor', cursor] as [string, string]]),
    ]
    const answer = await get(what, pairs)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    found.push(...(answer.body[what === 'events' ? 'records' : 'deliveries'] as Body[]))
    cursor = answer.body.next_cursor
  } while (cursor !== null)
  assert.equal(new Set(found.map((item) => item.id)).size, found.length)
  return found
}

const events = async (query: Parameters<typeof all>[1]): Promise<number[]> =>
  (await all('events', query)).map((record) => record.data.n)
const count = async (query: Parameters<typeof all>[1]): Promise<number> => (await all('deliveries', query)).length

test('a search finds events by text, by conditions on the payload, by dataset, endpoint and time, newest first', async () => {
  assert.deepEqual(
    await events({}),
    Array.from({ length: EVENTS }, (_unused, n) => EVENTS - 1 - n),
  )
  assert.deepEqual(await events({ q: 'ÄRZTE &' }), [9, 6, 3, 0])
  assert.deepEqual(await events({ f: 'n:gte:9' }), [11, 10, 9])
  assert.deepEqual(
    await events([
      ['f', 'n:gte:6'],
      ['f', 'customer:contains:rzte'],
    ]),
    [9, 6],
  )
  assert.deepEqual(await events({ f: 'n:in:2,4' }), [4, 2])
  assert.deepEqual(await events({ f: 'customer:in:[none],[of],these' }), [], 'brackets may be a part of a value')
  for (const list of ['[2,4]', '["2", "4"]', '[]']) {
    const refused = await world.admin('GET', `search/events?f=${encodeURIComponent(`n:in:${list}`)}`)
    assert.equal(refused.status, 400, list)
    assert.match(
      refused.body.error,
      /^f: separate the values of "in" with commas, without brackets and quotes: n:in:(?:2,4)?\.$/,
    )
  }
  assert.deepEqual(await events({ f: 'n:equals:7' }), [7])
  assert.deepEqual(await events({ f: 'nothing:exists' }), [])
  assert.deepEqual(await events({ f: String.raw`a\:b:equals:colon` }), [5])
  assert.deepEqual(await events({ dataset: 'Refunds' }), [8, 4, 0])
  assert.equal((await events({ webhook: webhook.id })).length, EVENTS)
  assert.deepEqual(await events({ webhook: (await aWebhook(world)).id }), [])
  const now = world.clock.now()
  const at = (ago: number): string => new Date(now - ago * 1_000).toISOString()
  assert.deepEqual(await events({ from: at(3) }), [11, 10, 9])
  assert.deepEqual(await events({ from: at(5), to: at(3) }), [8, 7])
})

test('a search finds events by the state and the destination of one and the same delivery', async () => {
  assert.deepEqual(await events({ state: 'failed' }), [11, 10, 9, 7, 6, 5, 3, 2, 1])
  assert.deepEqual(await events({ state: 'failed', destination: one.id }), [11, 10, 9, 7, 6, 5, 3, 2, 1])
  assert.deepEqual(await events({ state: 'failed', destination: other.id }), [])
  assert.deepEqual(await events({ state: 'failed,pending', f: 'n:lt:3' }), [2, 1, 0])
  assert.equal((await events({ destination: other.id })).length, EVENTS)
  assert.deepEqual(await events({ destination: encodeId('destination', world.app.deps.uuid()) }), [])
  assert.match((await get('events', { state: 'lost' })).body.error, /pending, sending/)
})

test('each page reports how many records it examined and how far back; the last page reports the end', async () => {
  const begin = (await all('events', { f: 'n:equals:9' }))[0].received_at
  const first = (await get('events', { q: 'rzte', limit: '1' })).body
  assert.deepEqual([first.records[0].data.n, first.scanned, first.reached], [9, 3, begin])
  const whole = (await get('events', { q: 'rzte' })).body
  assert.deepEqual([whole.scanned, whole.reached, whole.next_cursor], [EVENTS, null, null])
  assert.equal(
    (await get('deliveries', { limit: '1' })).body.reached,
    (await get('events', { limit: '1' })).body.records[0].received_at,
  )
})

test('one request can ask for the deliveries of several records', async () => {
  const [a, b, c] = await all('events', { q: 'rzte' })
  const of = (await world.admin('GET', `deliveries?record_id=${a.id},${b.id}`)).body.deliveries
  assert.deepEqual(new Set(of.map((delivery: Body) => delivery.record_id)), new Set([a.id, b.id]))
  assert.ok(!of.some((delivery: Body) => delivery.record_id === c.id))
  assert.equal(
    (await world.admin('GET', `deliveries?record_id=${Array.from({ length: 101 }, () => a.id).join(',')}`)).status,
    400,
  )
})

test('a search finds deliveries by state, by destination and by their payload', async () => {
  assert.equal(await count({}), 9 + 12)
  assert.equal(await count({ destination: one.id }), 9)
  assert.equal(await count({ state: 'failed' }), 9)
  assert.equal(await count({ state: 'failed', destination: other.id }), 0)
  assert.equal(await count({ state: 'failed,pending' }), 21)
  assert.equal(await count({ dataset: 'Refunds' }), 3)
  assert.equal(await count({ q: 'söhne', destination: other.id }), 4)
  assert.equal(await count({ f: 'n:lt:2', state: 'pending' }), 2)
  assert.equal(await count({ webhook: webhook.id }), 21)
  assert.equal(await count({ from: new Date(world.clock.now()).toISOString() }), 0)
  assert.equal(await count({ destination: encodeId('destination', world.app.deps.uuid()) }), 0)
})

test('pages continue where the previous page ended, whatever the search is for', async () => {
  for (const query of [{}, { q: 's' }, { state: 'failed' }, { f: 'n:gte:0', destination: other.id }]) {
    const whole = (await all('deliveries', query)).map((item) => item.id)
    assert.deepEqual(
      whole,
      whole.toSorted((a: string, b: string) => (a < b ? 1 : -1)),
    )
    for (const limit of ['1', '2', '200'])
      assert.deepEqual(
        (await all('deliveries', { ...query, limit })).map((item) => item.id),
        whole,
      )
  }
  const whole = await events({})
  for (const limit of ['1', '5', '200']) assert.deepEqual(await events({ limit }), whole)
  assert.deepEqual(await events({ limit: '1', q: 'rzte' }), [9, 6, 3, 0])
})

const refused = async (query: Record<string, string>, words: RegExp): Promise<void> => {
  const answer = await get('deliveries', query)
  assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'], JSON.stringify(query))
  assert.match(answer.body.error, words)
}

test('an invalid condition, state or limit is refused with its fault', async () => {
  for (const f of ['n', 'n:like:x', ':equals:1', 'n:gt:many', 'n:exists:1', 'n:gt:']) await refused({ f }, /^f:? /)
  await refused({ f: 'n:regex:(a+)+' }, /^f\[0\]/)
  await refused({ state: 'failed,lost' }, /pending, sending/)
  await refused({ limit: '201' }, /limit/)
  await refused({ q: '' }, /q/)
  await refused({ cursor: 'x' }, /cursor/)
})

test('one call examines a bounded part: a page can be empty, and its cursor leads to the remaining results', async () => {
  const at = await database.one<{ workspace_id: string; project_id: string; record_id: string }>(
    sql`select workspace_id, project_id, record_id from deliveries order by id limit 1`,
  )
  const { destination } = await aDestination(world, { url: 'https://example.net/', datasets: ['Nothing'] })
  const uuid = decodeId('destination', destination.id) ?? ''
  // More deliveries than one call examines, all delivered but the oldest.
  await database.run(sql`
    insert into deliveries (workspace_id, project_id, id, record_id, destination_id, state, next_attempt_at, created_at, updated_at)
    select ${at.workspace_id}, ${at.project_id}, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${at.record_id}, ${uuid},
           case when n = 1 then 'pending' else 'delivered' end, case when n = 1 then now() end, now(), now()
      from generate_series(1, 52000) as n
  `)
  const first = await get('deliveries', { destination: destination.id, state: 'pending' })
  assert.deepEqual(first.body.deliveries, [])
  assert.notEqual(first.body.next_cursor, null)
  assert.equal(first.body.scanned, 50_000)
  assert.equal(await count({ destination: destination.id, state: 'pending' }), 1)
})

test('a search with many conditions on long texts does a bounded amount of work, reports this, and continues on the next page', async () => {
  const { public_url } = await aWebhook(world, { dataset: 'Long' })
  await aDestination(world, { url: 'https://example.com/', datasets: ['Long'] })
  for (let n = 0; n < 9; n += 1)
    assert.equal((await post(public_url, `{"n":${n},"a":"${'a'.repeat(200_000)}"}`)).status, 201)
  const many = Array.from({ length: 40 }, () => ['f', 'a:contains:aaa'] as const)
  for (const what of ['events', 'deliveries'] as const) {
    const found = ({ body }: Answer): Body[] => (what === 'events' ? body.records : body.deliveries)
    const first = await get(what, [['dataset', 'Long'], ...many])
    assert.equal(first.body.budget_used_up, true)
    assert.ok(found(first).length > 0 && found(first).length < 9 && first.body.next_cursor !== null)
    assert.equal((await all(what, [['dataset', 'Long'], ...many])).length, 9)
    const few = await get(what, { dataset: 'Long', f: 'n:equals:3' })
    assert.deepEqual([found(few).length, 'budget_used_up' in few.body], [1, false])
  }
})

const idsOf = ({ body }: Answer): string[] => body.submissions.map(({ id }: Body) => id)

test('search/submissions finds submissions without a record by their body, and reports bodies that it could not read', async () => {
  const picky = await aWebhook(world, { criteria: [{ path: 'kind', equals: 'wanted' }] })
  const nowhere = await post(picky.public_url, '{"kind":"other","city":"Zürich"}')
  await post(picky.public_url, '{"kind":"wanted","city":"Zürich"}')
  await post(picky.public_url, '{"kind":"other","city":"Bern"}')
  const find = async (query: Record<string, string>): Promise<Answer> =>
    world.admin('GET', `search/submissions?${new URLSearchParams(query).toString()}`)
  const byText = await find({ q: 'ZÜRICH' })
  assert.deepEqual([idsOf(byText), byText.body.unreadable, byText.body.reached], [[nowhere.body.id], 0, null])
  assert.equal(byText.body.unfiled, 2)
  assert.ok(byText.body.scanned > EVENTS, 'filed submissions were skipped')
  assert.deepEqual(idsOf(await find({ f: 'city:equals:Zürich' })), [nowhere.body.id])
  assert.equal(idsOf(await find({ webhook: picky.id })).length, 2)
  assert.deepEqual(idsOf(await find({ webhook: webhook.id })), [])
  assert.deepEqual(idsOf(await find({ q: 'Zürich', to: '2020-01-01T00:00:00Z' })), [])
  const first = await find({ webhook: picky.id, limit: '1' })
  const second = await find({ webhook: picky.id, limit: '1', cursor: first.body.next_cursor })
  assert.deepEqual(idsOf(second), [nowhere.body.id])
  await database.run(
    sql`update submissions set headers = '{"content-encoding":"gzip"}' where id = ${decodeId('submission', nowhere.body.id) ?? ''}`,
  )
  const broken = await find({ q: 'Zürich' })
  assert.deepEqual([idsOf(broken), broken.body.unreadable], [[], 1])
})

test('a search finds events and unfiled requests by their query string, as text and by its members', async () => {
  const { public_url, id } = await aWebhook(world, { dataset: 'Asked' })
  const picky = await aWebhook(world, { criteria: [{ path: 'kind', equals: 'wanted' }] })
  const query = 'tenant=ac%20me&hub.topic=a&tag=one&tag=two&token=hush'
  for (const [index, more] of [`?${query}`, '?tenant=other', ''].entries()) {
    // oxlint-disable-next-line no-await-in-loop -- in this order
    assert.equal((await post(public_url + more, JSON.stringify({ n: index }))).status, 201)
  }
  const nowhere = await post(`${picky.public_url}?${query}`, '{}')
  const searches: readonly (readonly [Record<string, string>, boolean])[] = [
    [{ query: 'tenant:equals:ac me' }, true],
    [{ query: 'hub\\.topic:equals:a' }, true],
    [{ query: 'tag.1:equals:two' }, true],
    [{ query: 'tag:contains:one' }, true],
    [{ q: 'TENANT=ac%20me', in: 'headers' }, true],
    [{ q: 'tenant=ac me', in: 'payload,headers' }, true],
    [{ q: 'ac me' }, false],
    [{ query: 'tenant:equals:acme' }, false],
    [{ query: 'token:equals:hush' }, false],
  ]
  for (const [search, finds] of searches) {
    // oxlint-disable-next-line no-await-in-loop -- one search after the other
    assert.deepEqual(await events({ ...search, webhook: id }), finds ? [0] : [], JSON.stringify(search))
    const at = new URLSearchParams({ ...search, webhook: picky.id }).toString()
    // oxlint-disable-next-line no-await-in-loop -- as above
    const unfiled = await world.admin('GET', `search/submissions?${at}`)
    assert.deepEqual(idsOf(unfiled), finds ? [nowhere.body.id] : [], JSON.stringify(search))
  }
  assert.equal((await get('events', { query: 'tenant' })).status, 400)
})

const filed = async (rule: string): Promise<string[]> => (await all('events', { rule })).map(({ id }) => id)

test('search/events finds events that a rule filed', async () => {
  const { key } = await anIngestKey(world)
  const [one_, other_] = [
    await aRule(world, { dataset: 'Ruled', conditions: [{ path: 'to', equals: 'one' }] }),
    await aRule(world, { dataset: 'Ruled', conditions: [{ path: 'to', op: 'exists' }] }),
  ]
  const url = `${world.baseUrl}/v1/ingest/${key}`
  const both = await post(url, '{"to":"one"}')
  await post(url, '{"to":"two"}')
  await post(`${url}/Ruled`, '{"to":"one"}')
  const filedBy = (rule: string): string => both.body.routed.find(({ rule_id }: Body) => rule_id === rule).record_id
  assert.deepEqual(await filed(one_.id), [filedBy(one_.id)])
  assert.equal((await filed(other_.id)).length, 2)
})

const found = async (q: string): Promise<number> => (await all('events', { q, dataset: 'escaped' })).length

test('a search for a character finds it also where the payload writes it as an escape', async () => {
  const { public_url: url } = await aWebhook(world, { dataset: 'escaped' })
  assert.equal((await post(url, String.raw`{"n":1,"city":"Z\u00fcrich","path":"a\/b"}`)).status, 201)
  assert.deepEqual([await found('zürich'), await found('A/B'), await found('bern')], [1, 1, 0])
})

test('a condition finds an event however deep its payload is nested', async () => {
  const { public_url: url } = await aWebhook(world, { dataset: 'deep' })
  const [open, close] = ['['.repeat(200), ']'.repeat(200)]
  // A delivery of another Postroad may be nested deeper than the body of any other sender.
  const sent = await post(url, `{"n":1,"list":${open}${close}}`, { headers: { 'service-hops': '1' } })
  assert.equal(sent.status, 201)
  assert.deepEqual(await events({ dataset: 'deep', f: 'n:equals:1' }), [1])
  assert.deepEqual(await events({ dataset: 'deep', f: 'n:equals:2' }), [])
})
