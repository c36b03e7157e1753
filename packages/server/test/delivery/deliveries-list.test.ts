import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, anIngestKey, aRule, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The event beside each delivery of a list, and the filter by the rule that filed the event. Nothing is sent here. */

let world: World

onWorldStage(
  async (made) => {
    ;({ world } = made)
    await aDestination(world, { name: 'all', url: 'https://example.com/' })
  },
  { env: { ROLES: 'web' }, loops: [] },
)

type Body = Answer['body']

const get = async (path: string): Promise<Body> => {
  const { status, body } = await world.admin('GET', path)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** The event of the delivery of a new event, the same in the list, the search and the item. */
async function eventOf(url: string, body: string, headers: Record<string, string> = {}): Promise<Body> {
  const accepted = await post(url, body, { headers })
  assert.equal(accepted.status, 201)
  const [listed] = (await get(`deliveries?record_id=${accepted.body.records[0].id}`)).deliveries
  const found = (await get('search/deliveries?limit=1')).deliveries[0]
  assert.deepEqual(found, listed)
  const { attempts: _attempts, ...item } = (await get(`deliveries/${listed.id}`)).delivery
  assert.deepEqual(item, listed)
  return listed.event
}

test('a delivery shows what its sender calls the event: by a header, by the path of its endpoint, or by a member', async () => {
  const { endpoint } = world
  assert.equal((await eventOf(endpoint, '{"type":"order.paid"}', { 'X-GitHub-Event': 'push' })).title, 'push')
  assert.equal((await eventOf(endpoint, '{"name":"Ada","action":"opened"}')).title, 'opened')
  assert.equal((await eventOf(endpoint, '{"name":"Ada"}')).title, null)
  assert.equal((await eventOf(endpoint, '[1,2]')).title, null)
  const { public_url: url } = await aWebhook(world, { event_title: { path: 'event.kind' } })
  assert.equal((await eventOf(url, '{"type":"no","event":{"kind":"yes"}}')).title, 'yes')
  assert.equal((await eventOf(url, '{"event":{"kind":12345678901234567890}}')).title, '12345678901234567890')
  assert.equal((await eventOf(url, `{"type":"short","event":{"kind":"${'x'.repeat(81)}"}}`)).title, 'short')
})

test('only the start of a long payload is read and shown: a title in the start counts, and a title after it does not', async () => {
  const long = 'x'.repeat(20_000)
  const first = await eventOf(world.endpoint, `{"type":"in.front","data":"${long}"}`)
  assert.equal(first.title, 'in.front')
  assert.equal(first.payload_start.length, 400)
  assert.ok(first.payload_start.startsWith('{"type":"in.front","data":"xxx'))
  assert.equal((await eventOf(world.endpoint, `{"data":"${long}","type":"behind"}`)).title, null)
  const stripe = `{"id":"evt_1","data":{"object":{"text":"${'y'.repeat(7_000)}"}},"type":"charge.succeeded"}`
  assert.equal((await eventOf(world.endpoint, stripe)).title, 'charge.succeeded')
  const start = `{"a":"${'z'.repeat(393)}`
  assert.equal((await eventOf(world.endpoint, `${start}😀"}`)).payload_start, start, 'half a character is left out')
})

/** All pages of a search. */
const found = async (query: string): Promise<Body[]> => {
  const rows: Body[] = []
  let cursor: string | null = null
  do {
    const page: Body = await get(
      `search/deliveries?${query}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    rows.push(...page.deliveries)
    cursor = page.next_cursor
  } while (cursor !== null)
  return rows
}
const numbers = (rows: readonly Body[]): readonly number[] => rows.map(({ event }) => JSON.parse(event.payload_start).n)

test('deliveries are found by the rule that filed their event, page by page, with the other filters', async () => {
  const key = await anIngestKey(world)
  const [large, every] = [
    await aRule(world, { dataset: 'large', conditions: [{ path: 'n', op: 'gte', value: 5 }] }),
    await aRule(world, { dataset: 'every' }),
  ]
  for (let n = 0; n < 8; n += 1)
    assert.equal((await post(`${world.baseUrl}/v1/ingest/${key.key}`, JSON.stringify({ n }))).status, 201)
  assert.deepEqual(numbers(await found(`rule=${large.id}`)), [7, 6, 5])
  assert.deepEqual(numbers(await found(`rule=${large.id}&limit=2`)), [7, 6, 5], 'page by page')
  assert.deepEqual(numbers(await found(`rule=${every.id}&limit=3`)), [7, 6, 5, 4, 3, 2, 1, 0])
  assert.ok((await found(`rule=${large.id}`)).every(({ dataset }) => dataset === 'large'))
  assert.deepEqual(numbers(await found(`rule=${every.id}&f=n:lt:2`)), [1, 0], 'and by the payload')
  assert.deepEqual(numbers(await found(`rule=${large.id}&state=pending`)), [7, 6, 5])
  assert.deepEqual(await found(`rule=${large.id}&state=failed`), [])
  assert.deepEqual(await found(`rule=${large.id}&dataset=every`), [])
  assert.deepEqual(await found(`rule=${large.id.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))}`), [])
})
