import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { uuidv7Floor } from '../../src/platform/ids.ts'
import { aDestination, aWebhook, anIngestKey, post, statement } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract part 4, activity rules, and part 2, endpoint activity. */
let world: World
let database: Database
let sink: Sink

onWorldStage(
  (made) => {
    ;({ world, database, sink } = made)
  },
  { loops: [] },
)
beforeEach(() => world.clock.set((Math.floor(world.clock.now() / 60_000) + 1) * 60_000))

const HOUR_MS = 3_600_000
const iso = (ms: number): string => new Date(ms).toISOString()

async function activityOf(id: string, query: Record<string, string> = {}): Promise<Answer['body']> {
  const answer = await world.admin('GET', `webhooks/${id}/activity?${new URLSearchParams(query).toString()}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

/** Writes the log, which then counts this many refusals of the endpoint. */
async function refused(count: number, id: string): Promise<Answer['body']> {
  await world.run('rejections.flush')
  const seen = await activityOf(id)
  assert.equal(seen.summary.rejected, count)
  return seen
}

test('the activity list shows the accepted and the rejected requests of an endpoint, newest first, with exactly the members of the contract', async () => {
  const { id, public_url } = await aWebhook(world)
  const began = world.clock.now()
  const { body: first } = await post(public_url, '{"a":1}')
  world.clock.advance(1_000)
  await post(public_url, '', { type: 'text/plain' })
  await post(public_url, '', { type: 'text/plain' })
  world.clock.advance(1_000)
  const { body: second } = await post(public_url, 'a=1', { type: 'application/x-www-form-urlencoded' })
  await refused(2, id)
  const seen = await activityOf(id)
  const now = world.clock.now()
  const at = { source_ip: '127.0.0.1', method: 'POST' }
  const received = { kind: 'received', reason: null, status: 201, count: 1, forward_status: 'none', held_by: null }
  const [, { id: rejection }] = seen.rows
  assert.match(rejection, /^rej_/)
  assert.deepEqual(seen, {
    endpoint_id: id,
    summary: {
      window_hours: 24,
      received: 2,
      rejected: 2,
      duplicates: 0,
      key_reused: 0,
      last_received_at: iso(began + 2_000),
      last_rejected_at: iso(began + 1_000),
    },
    rows: [
      { ...received, id: second.id, at: iso(began + 2_000), ...at, content_type: 'application/x-www-form-urlencoded' },
      {
        kind: 'rejected',
        id: rejection,
        at: iso(began + 1_000),
        reason: 'empty_body',
        status: 400,
        count: 2,
        ...at,
        content_type: 'text/plain',
        forward_status: 'none',
        held_by: null,
      },
      { ...received, id: first.id, at: iso(began), ...at, content_type: 'application/json' },
    ],
    total: 3,
    limit: 50,
    offset: 0,
    since: iso(now - 7 * 24 * HOUR_MS),
  })
})

test('the filter kind shows only accepted or only rejected requests; the summary covers both', async () => {
  const { id, public_url } = await aWebhook(world)
  await post(public_url, '{}')
  await post(public_url, '')
  const { summary, rows } = await refused(1, id)
  for (const kind of ['received', 'rejected']) {
    const seen = await activityOf(id, { kind })
    assert.deepEqual(
      [seen.rows.map((row: { kind: string }) => row.kind), seen.total, seen.summary],
      [[kind], 1, summary],
    )
  }
  assert.deepEqual((await activityOf(id, { kind: 'all' })).rows, rows)
})

test('the list includes requests with an ingest key that names the endpoint, and no requests of other endpoints', async () => {
  const webhook = await aWebhook(world)
  const other = await aWebhook(world)
  const { key } = await anIngestKey(world)
  for (const body of ['{}', '']) {
    await post(`${world.baseUrl}/v1/webhooks/${key}/${webhook.slug}`, body)
    await post(other.public_url, body)
    await post(`${world.baseUrl}/v1/ingest/${key}`, body)
  }
  const seen = await refused(1, webhook.id)
  assert.deepEqual([seen.total, seen.summary.received, seen.summary.rejected], [2, 1, 1])
})

test('limit and offset page through the list, and each row appears once; a page beyond the end is empty', async () => {
  const { id, public_url } = await aWebhook(world)
  for (let sent = 0; sent < 4; sent += 1) {
    await post(public_url, '{}')
    world.clock.advance(1_000)
    await post(public_url, sent % 2 === 0 ? '' : '{')
    world.clock.advance(60_000)
  }
  await refused(4, id)
  const { rows: whole } = await activityOf(id, { limit: '100' })
  assert.deepEqual(whole.map((row: { kind: string }) => row.kind).join(), Array(4).fill('rejected,received').join())
  const paged = []
  for (const offset of [0, 3, 6, 9]) {
    const seen = await activityOf(id, { limit: '3', offset: String(offset) })
    assert.deepEqual([seen.total, seen.limit, seen.offset], [8, 3, offset])
    paged.push(...seen.rows)
  }
  assert.deepEqual(paged, whole)
  for (const offset of ['100000', '9007199254740991']) assert.deepEqual((await activityOf(id, { offset })).rows, [])
})

test('a limit outside 1 to 100, a negative offset and an unknown kind are refused', async () => {
  const { id } = await aWebhook(world)
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'offset=1.5', 'kind=lost']) {
    const { status, body } = await world.admin('GET', `webhooks/${id}/activity?${query}`)
    assert.deepEqual([status, body.reason], [400, 'invalid_request'], query)
  }
  assert.equal((await activityOf(id, { limit: '100' })).limit, 100)
})

test('the rows cover the last 7 days, and the summary covers the last 24 hours', async () => {
  const { id, public_url } = await aWebhook(world)
  const both = async (): Promise<void> => {
    await post(public_url, '{}')
    await post(public_url, '')
  }
  await both()
  await refused(1, id)
  world.clock.advance(24 * HOUR_MS + 60_000)
  const later = await activityOf(id)
  assert.deepEqual(later.summary, {
    window_hours: 24,
    received: 0,
    rejected: 0,
    duplicates: 0,
    key_reused: 0,
    last_received_at: null,
    last_rejected_at: null,
  })
  assert.equal(later.total, 2)
  await both()
  await refused(1, id)
  assert.equal((await activityOf(id)).total, 4)
  world.clock.advance(6 * 24 * HOUR_MS)
  const week = await activityOf(id)
  assert.deepEqual([week.total, week.rows.length], [2, 2])
})

test('forward_status and held_by follow the deliveries', async () => {
  const { id, public_url } = await aWebhook(world, { dataset: 'followed' })
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['followed'], enabled: false })
  await post(public_url, '{}')
  const [paused] = (await activityOf(id)).rows
  assert.deepEqual([paused.forward_status, paused.held_by?.cause], ['paused', 'destination_off'])
  await world.admin('PATCH', `destinations/${destination.id}`, { enabled: true })
  world.clock.advance(1_000)
  await world.idle()
  const [sent] = (await activityOf(id)).rows
  assert.deepEqual([sent.forward_status, sent.held_by], ['delivered', null])
})

test('the newest 100,000 of many submissions can be paged through, and the summary counts all of them', async () => {
  const { id } = await aWebhook(world)
  const webhookId = decodeId('webhook', id) ?? ''
  const now = world.clock.now()
  await database.run(sql`
    insert into submissions (workspace_id, project_id, id, webhook_id, received_at, headers, body_size, decision, record_ids)
    select workspace_id, id, (left(${uuidv7Floor(now - HOUR_MS)}, 13) || '-7' || lpad(to_hex(n / 65536), 3, '0') || '-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
           ${webhookId}, ${new Date(now - HOUR_MS)}, '{}', 2, '{"criteria":[]}', '{}'
      from projects, generate_series(1, 120000) as n
     where is_default
  `)
  await statement(database, 'vacuum analyze submissions')
  const seen = await activityOf(id, { limit: '100', offset: '99950' })
  assert.deepEqual([seen.rows.length, seen.total, seen.summary.received], [50, 100_000, 120_000])
  assert.equal(new Set(seen.rows.map((row: { id: string }) => row.id)).size, 50)
  assert.equal((await activityOf(id, { offset: '100000' })).rows.length, 0)
})
