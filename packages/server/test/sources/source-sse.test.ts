import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { afterEach, beforeEach, test } from 'node:test'
import { createStreams, type Streams } from '../../src/pipeline/sources/index.ts'
import { sql } from '../../src/platform/db.ts'
import { anEventServer, type EventServer } from '../stage/event-server.ts'
import { aName } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { asked, payloadsIn, placeOf, setSuspended, sourceDeps } from '../stage/source-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Sources that read server-sent events, with a real server. The world has no role `work`, so a test runs the streams of two nodes itself. */
let world: World
let other: World
let feed: EventServer
let here: Streams
let there: Streams

onWorldStage(
  async (made) => {
    ;({ world } = made)
    other = await aWorld({ beside: world, env: { ROLES: 'web' } })
    made.atEnd(() => other.stop())
  },
  { env: { ROLES: 'web' }, loops: [] },
)
beforeEach(async () => {
  feed = await anEventServer()
  here = createStreams(sourceDeps(world), 'here')
  there = createStreams(sourceDeps(other), 'there')
})
afterEach(async () => {
  await Promise.all([here.stop(), there.stop()])
  await world.app.deps.database.run(sql`delete from sources where workspace_id = ${placeOf(world).workspaceId}`)
  await feed.stop()
})

let made = 0
async function aSource(more: object = {}): Promise<Answer['body']> {
  made += 1
  const settings = { kind: 'sse', url: feed.url, ...more }
  return (await asked(world, 'POST sources', { name: aName('source'), dataset: `events${made}`, settings })).source
}
const sourceOf = async (id: string): Promise<Answer['body']> => (await asked(world, `GET sources/${id}`)).source
function advance(ms: number): void {
  for (const node of [world, other]) node.clock.advance(ms)
}
const until = (holds: () => boolean | Promise<boolean>): Promise<true> =>
  eventually(holds.toString(), async () => ((await holds()) ? true : undefined), 20_000)
const reading = (count = 1): Promise<true> => until(() => feed.open.size === count)
const events = (dataset: string, count: number): Promise<true> =>
  until(async () => (await payloadsIn(world, dataset)).length >= count)

test('each event becomes one event with its name, its id and its data', async () => {
  const { id, dataset } = await aSource()
  await here.run()
  await reading()
  feed.send('event: trade\nid: 7\ndata: {"price":\ndata: 1.50}\n\n: a comment\n\ndata: plain "text"\n\n')
  await events(dataset, 2)
  assert.deepEqual(await payloadsIn(world, dataset), [
    '{"event":"trade","id":"7","data":{"price":\n1.50}}',
    '{"event":"message","id":null,"data":"plain \\"text\\""}',
  ])
  const source = await sourceOf(id)
  assert.deepEqual([source.state, source.position, source.events], ['reading', { last_event_id: '7' }, 2])
})

test('a stream that ends is read again after the pause that the server asked for, from the last id', async () => {
  const { dataset } = await aSource()
  await here.run()
  await reading()
  feed.send('retry: 7000\nid: 41\ndata: 1\n\n')
  await events(dataset, 1)
  feed.end()
  await reading(0)
  await until(async () => (await sourceOf((await asked(world, 'GET sources')).sources[0].id)).state === 'waiting')
  advance(6_000)
  await here.run()
  assert.equal(feed.requests.length, 1)
  advance(1_001)
  await here.run()
  await reading()
  assert.deepEqual([feed.requests[0]?.['last-event-id'], feed.requests[1]?.['last-event-id']], [undefined, '41'])
})

test('an id with any characters is sent back as UTF-8', async () => {
  const { dataset } = await aSource()
  await here.run()
  await reading()
  const id = 'événement 事件'
  feed.send(`retry: 1000\nid: ${id}\ndata: 1\n\n`)
  await events(dataset, 1)
  feed.end()
  await reading(0)
  await until(async () => {
    advance(1_000)
    await here.run()
    return feed.open.size === 1
  })
  assert.equal(Buffer.from(String(feed.requests[1]?.['last-event-id']), 'latin1').toString(), id)
})

test('a process that stops while it connects has not failed: another one connects immediately', async () => {
  const heard = Promise.withResolvers<void>()
  const silent = createServer(() => heard.resolve())
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const { id } = await aSource({ url: `http://127.0.0.1:${port}/` })
  await here.run()
  await heard.promise
  await here.stop()
  const { state, failures, last_error, next_run_at } = await sourceOf(id)
  assert.deepEqual([state, failures, last_error], ['waiting', 0, null])
  assert.equal(Date.parse(next_run_at), world.clock.now())
  silent.closeAllConnections()
  silent.close()
})

test('the events and the last id are one commit: a process that dies between them asks for the same events again', async () => {
  const { dataset } = await aSource()
  let died = false
  const dies: typeof world.app.acceptAll = (captured, alongside) =>
    world.app.acceptAll(captured, async (tx, outcomes) => {
      await alongside(tx, outcomes)
      if (captured.length === 0) return
      died = true
      throw new Error('The process died.')
    })
  const dying = createStreams({ ...sourceDeps(world), acceptAll: dies }, 'dying')
  await dying.run()
  await reading()
  feed.send('id: 1\ndata: 1\n\n')
  await until(() => died)
  await reading(0)
  assert.deepEqual(await payloadsIn(world, dataset), [])
  advance(60_000)
  await there.run()
  await reading()
  assert.equal(feed.requests[1]?.['last-event-id'], undefined)
  await dying.stop()
})

test('one process at a time reads, and another one takes over when its lease ends', async () => {
  const { id, dataset } = await aSource()
  await here.run()
  await there.run()
  await reading()
  assert.equal(feed.requests.length, 1)
  await until(async () => (await sourceOf(id)).runs === 1)
  // The first process hangs, so it no longer renews its lease.
  advance(16_000)
  await there.run()
  await reading(2)
  feed.send('id: 1\ndata: {"n":1}\n\n')
  await events(dataset, 1)
  await here.run()
  await reading(1)
  assert.equal((await payloadsIn(world, dataset)).length, 1, 'the fence lets the holder store it alone')
})

test('an event that is too large is skipped and counted, and the events after it are filed', async () => {
  const { id, dataset } = await aSource()
  await here.run()
  await reading()
  feed.send(`data: 1\n\nid: 2\nevent: large\ndata: ${'x'.repeat(9_000_000)}\n\nid: 3\ndata: 3\n\n`)
  await events(dataset, 2)
  const { state, skipped, position, last_error } = await sourceOf(id)
  assert.deepEqual([state, skipped, position, last_error], ['reading', 1, { last_event_id: '3' }, null])
  assert.equal(feed.requests.length, 1)
})

test('a suspension ends the stream, and a reinstatement continues from the last id', async () => {
  const { dataset } = await aSource()
  await here.run()
  await reading()
  feed.send('id: 5\ndata: 1\n\n')
  await events(dataset, 1)
  await setSuspended(world, true)
  await here.run()
  await reading(0)
  advance(60_000)
  await here.run()
  assert.equal(feed.requests.length, 1)
  await setSuspended(world, false)
  await until(async () => {
    await here.run()
    return feed.requests.length === 2
  })
  assert.equal(feed.requests[1]?.['last-event-id'], '5')
})

test('only events with the given names are filed, and the position moves past the others', async () => {
  const { id, dataset } = await aSource({ events: ['order'] })
  await here.run()
  await reading()
  feed.send('event: order\nid: 1\ndata: 1\n\nevent: noise\nid: 2\ndata: 2\n\n')
  await until(async () => (await sourceOf(id)).position?.last_event_id === '2')
  assert.deepEqual(await payloadsIn(world, dataset), ['{"event":"order","id":"1","data":1}'])
})

test('a refusal by the server is a failure with its reason, and a successful connection clears it', async () => {
  feed.answer(503)
  const { id } = await aSource()
  await here.run()
  await until(async () => (await sourceOf(id)).failures === 1)
  assert.equal((await sourceOf(id)).last_error.reason, 'bad_status')
  feed.answer(200)
  advance(10_000)
  await here.run()
  await reading()
  await until(async () => (await sourceOf(id)).failures === 0)
  const { state, failing_since, last_error } = await sourceOf(id)
  assert.deepEqual([state, failing_since, last_error], ['reading', null, null])
})

test('a process that stops releases the source, so another one reads immediately', async () => {
  await aSource()
  await here.run()
  await reading()
  await here.stop()
  await there.run()
  await until(() => feed.requests.length === 2)
})
