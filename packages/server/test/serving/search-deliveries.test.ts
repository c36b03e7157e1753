import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, aWebhook, post } from '../stage/fixtures.ts'
import { aSink, type Answer, type Sink, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Searches for deliveries by the received request and by the response of the destination. */
type Body = Answer['body']
const EVENTS = 6
let world: World
let sinks: readonly Sink[]

onWorldStage(
  async (made) => {
    ;({ world } = made)
    sinks = await Promise.all([aSink(), aSink(), aSink()])
    sinks[0]?.answer(({ body }) =>
      body.includes('"n":2')
        ? { status: 422, headers: { 'x-trace': 'trace-of-two' }, body: '{"error":{"code":"quota","left":0}}' }
        : { status: 200, body: 'Thank you, \\u00c4rzte' },
    )
    sinks[1]?.answer(({ body }) => ({ status: body.includes('"n":3') ? 503 : 200, body: `not json ${body.length}` }))
    for (const [index, sink] of sinks.entries())
      // oxlint-disable-next-line no-await-in-loop -- in order
      await aDestination(world, { name: `sink ${index}`, url: sink.url, datasets: ['Orders'] })
    const webhook = await aWebhook(world, { dataset: 'Orders' })
    for (let n = 0; n < EVENTS; n += 1) {
      const headers = { 'x-shop-topic': n % 2 === 0 ? 'orders/paid' : 'orders/made', 'x-region': 'Ärzte-haus' }
      // oxlint-disable-next-line no-await-in-loop -- in order
      assert.equal((await post(webhook.public_url, JSON.stringify({ n, word: `word-${n}` }), { headers })).status, 201)
    }
    await world.idle()
    const { deliveries } = (await world.admin('GET', 'search/deliveries?limit=200')).body
    assert.ok(deliveries.every((one: Body) => one.attempt_count > 0 && one.state !== 'sending'))
  },
  { loops: [] },
)
test.after(async () => {
  for (const sink of sinks)
    // oxlint-disable-next-line no-await-in-loop -- in order
    await sink.stop()
})

async function all(query: Record<string, string>): Promise<Body[]> {
  const found: Body[] = []
  let cursor: string | null = null
  do {
    const asked = new URLSearchParams({ ...query, ...(cursor === null ? {} : { cursor }) }).toString()
    // oxlint-disable-next-line no-await-in-loop -- each page follows the previous one
    const answer: Answer = await world.admin('GET', `search/deliveries?${asked}`)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.ok(answer.body.deliveries.length <= Number(query['limit'] ?? 50))
    found.push(...answer.body.deliveries)
    cursor = answer.body.next_cursor
  } while (cursor !== null)
  assert.equal(new Set(found.map(({ id }) => id)).size, found.length)
  return found
}

const count = async (query: Record<string, string>): Promise<number> => (await all(query)).length

test('a search finds deliveries by the response, as text and by its fields', async () => {
  assert.equal(await count({ q: 'QUOTA', in: 'response' }), 1)
  assert.equal(await count({ q: 'quota' }), 0)
  assert.equal(await count({ q: 'trace-of-two', in: 'response' }), 1)
  assert.equal(await count({ response: 'status:gte:400' }), 2)
  assert.equal(await count({ response: 'status:equals:503' }), 1)
  assert.equal(await count({ response: 'body.error.code:equals:quota' }), 1)
  assert.equal(await count({ response: 'body:contains:not json' }), EVENTS)
  assert.equal(await count({ response: 'headers.x-trace:exists' }), 1)
  assert.equal(await count({ response: 'status:equals:422', f: 'n:equals:3' }), 0)
  assert.equal(await count({ q: 'word-2', in: 'payload,response' }), 3)
})

test('one response must match all conditions', async () => {
  const query = new URLSearchParams([
    ['response', 'status:equals:503'],
    ['response', 'body:contains:Thank'],
  ]).toString()
  assert.deepEqual((await world.admin('GET', `search/deliveries?${query}`)).body.deliveries, [])
})

test('a search finds deliveries by the headers of the request', async () => {
  assert.equal(await count({ header: 'X-Shop-Topic:equals:orders/paid' }), 3 * (EVENTS / 2))
  assert.equal(await count({ q: 'x-shop-topic: orders/made', in: 'headers' }), 3 * (EVENTS / 2))
  assert.equal(await count({ q: 'orders/made' }), 0)
})

test('a page can end in the middle of an event, and the next page continues with its other deliveries', async () => {
  const whole = (await all({ q: 'word', limit: '200' })).map(({ id }) => id)
  assert.equal(whole.length, 3 * EVENTS)
  for (const limit of ['1', '2', '4', '7'])
    // oxlint-disable-next-line no-await-in-loop -- one search after the other
    assert.deepEqual(
      (await all({ q: 'word', limit })).map(({ id }) => id),
      whole,
    )
})

test('an unknown place and a cursor of another list are refused with the fault', async () => {
  for (const [query, words] of [
    ['q=x&in=body', /a place is one of payload, headers, response/],
    ['q=word&cursor=abc', /cursor/],
    ['response=status', /^response:? /],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one request after the other
    const { status, body } = await world.admin('GET', `search/deliveries?${query}`)
    assert.deepEqual([status, body.reason], [400, 'invalid_request'], query)
    assert.match(body.error, words)
  }
})
