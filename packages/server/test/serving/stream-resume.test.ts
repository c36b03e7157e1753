import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { anIngestKey, post } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { sse, webSocket, type Opening, type StreamClient } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** A client that comes back resumes its stream without a gap or a repetition. */
let world: World
let key: string
const open: StreamClient[] = []

onWorldStage(
  async (stage) => {
    ;({ world } = stage)
    const made = await anIngestKey(world)
    key = made.key
  },
  { loops: [] },
)
afterEach(() => {
  for (const client of open.splice(0)) client.close()
})

async function tail(query = '', opening: Opening = {}, speak = sse): Promise<StreamClient> {
  const client = await speak(`${world.baseUrl}/v1/stream?key=${key}${query}`, opening)
  open.push(client)
  return client
}

const send = (body: string, dataset = 'events') => post(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, body)

test('a client that comes back gets the events that it missed, once and in full', async () => {
  const first = await tail()
  await send('{"n":1}')
  const { id } = await first.until(1)
  first.close()
  for (const n of [2, 3, 4]) await send(`{"n":${n}}`)
  for (const opening of [{ headers: { 'last-event-id': id ?? '' } }, undefined]) {
    const again = await tail(opening === undefined ? `&after=${id}` : '', opening)
    await again.until(3)
    await send('{"n":5}')
    await again.until(4)
    assert.deepEqual(
      again.events.slice(0, 3).map((event) => event.data.data.n),
      [2, 3, 4],
    )
    assert.deepEqual(
      again.events.slice(3).map((event) => event.data.data.n),
      [5],
    )
    again.close()
    if (opening !== undefined) continue
  }
})

test('Last-Event-ID takes precedence over after, and an invalid cursor in it is refused as in after', async () => {
  const first = await tail()
  for (const n of [1, 2]) await send(`{"n":${n}}`)
  await first.until(2)
  const [older, newer] = first.events.map(({ id }) => id ?? '')
  const again = await tail(`&after=${newer}`, { headers: { 'last-event-id': older ?? '' } })
  await send('{"n":3}')
  await again.until(2)
  assert.deepEqual(
    again.events.map((event) => event.data.data.n),
    [2, 3],
  )
  for (const [query, headers] of [
    ['&after=nonsense', {}],
    ['', { 'last-event-id': 'nonsense' }],
    [`&after=${newer}`, { 'last-event-id': 'nonsense' }],
  ] as const) {
    const refused = await tail(query, { headers: { ...headers } })
    assert.equal(refused.status, 400)
    await refused.ended
    assert.match(refused.text(), /cursor is not valid.*"reason":"invalid_request"/)
  }
})

test('a client that lost its connection before the first event resumes from the cursor of the answer', async () => {
  for (const speak of [sse, webSocket]) {
    const first = await tail('', {}, speak)
    const cursor = String(first.headers['stream-cursor'])
    first.close()
    await send('{"missed":true}')
    const again = await tail(`&after=${cursor}`, {}, speak)
    assert.deepEqual((await again.until(1)).data.data, { missed: true })
  }
})

test('since gives the events that were received from that time on', async () => {
  world.clock.advance(3_600_000)
  const from = new Date(world.clock.now()).toISOString()
  for (const n of [1, 2]) await send(`{"since":${n}}`)
  const client = await tail(`&since=${from}`)
  await client.until(2)
  assert.deepEqual(
    client.events.map((event) => event.data.data.since),
    [1, 2],
  )
  for (const no of ['yesterday', '2026-02-30T00:00:00Z', '2026-01-15T25:00:00Z'])
    assert.equal((await fetch(`${world.baseUrl}/v1/stream?key=${key}&since=${no}`)).status, 400, no)
})

test('a long replay comes in pages and continues live, without a gap or a repetition', async () => {
  const first = await tail()
  const cursor = String(first.headers['stream-cursor'])
  first.close()
  const filler = 'x'.repeat(2_000)
  for (let round = 0; round < 12; round += 1) {
    await Promise.all(Array.from({ length: 100 }, (_none, n) => send(`{"n":${round * 100 + n},"filler":"${filler}"}`)))
  }
  const client = await tail(`&after=${cursor}`)
  const meanwhile = Promise.all(Array.from({ length: 100 }, (_none, n) => send(`{"n":${1_200 + n}}`)))
  await client.until(1_300)
  await meanwhile
  const seen = client.events.map((event) => event.data.data.n)
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    Array.from({ length: 1_300 }, (_none, n) => n),
  )
  // From any point on, the rest is exactly the events that were not seen yet.
  for (const at of [0, 499, 500, 777, 1_199, 1_299]) {
    const again = await tail(`&after=${client.events[at]?.id}`)
    if (at < 1_299) await again.until(1_299 - at)
    await send('{"n":"last"}')
    const last = await again.until(1_300 - at + [0, 499, 500, 777, 1_199, 1_299].indexOf(at))
    assert.equal(last.data.data.n, 'last')
    const rest = again.events.map((event) => event.data.data.n).filter((n) => n !== 'last')
    assert.deepEqual(new Set([...seen.slice(0, at + 1), ...rest]).size, 1_300)
    assert.equal(rest.length, 1_299 - at)
    again.close()
  }
})
