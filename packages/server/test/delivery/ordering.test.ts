import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, post } from '../stage/fixtures.ts'
import type { Received, Reply, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * `ordering` of a destination: records with the same value are sent one after another, in the order in which they were
 * accepted.
 */
let world: World
let sink: Sink

onWorldStage(
  (made) => {
    ;({ world, sink } = made)
  },
  { loops: [] },
)
let datasets = 0

type Data = { readonly key?: string | null; readonly n: number }
const dataOf = ({ body }: Received): Data => JSON.parse(body).data

/** A destination that preserves the order of `key`, with a separate dataset. */
async function aQueue(members: object = {}) {
  datasets += 1
  const dataset = `o${datasets}`
  const { destination } = await aDestination(world, {
    url: `${sink.url}${dataset}`,
    datasets: [dataset],
    ordering: { path: 'key' },
    retry: { schedule_seconds: [0, 5, 5] },
    ...members,
  })
  const rows = async () =>
    (await world.admin('GET', `deliveries?destination_id=${destination.id}`)).body.deliveries.toReversed()
  return {
    destination,
    /** The numbers of the records that were sent to the destination, in order. */
    seen: (): readonly number[] =>
      sink.received.filter(({ path }) => path === `/${dataset}`).map((request) => dataOf(request).n),
    /** Sends these events one after the other. */
    send: async (...records: readonly Data[]): Promise<void> => {
      for (const record of records)
        assert.equal((await post(`${world.endpoint}/${dataset}`, JSON.stringify(record))).status, 201)
    },
    ids: async (): Promise<string[]> => (await rows()).map((row: { id: string }) => row.id),
    /** Once the world is idle, the deliveries are in these states, the first accepted one first. */
    are: async (...states: readonly string[]) => {
      await world.idle()
      assert.deepEqual(
        (await rows()).map((row: { state: string }) => row.state),
        states,
      )
    },
  }
}

/** Answers 500 to these records, and 200 to all others. */
const refusing =
  (...ns: readonly number[]) =>
  (request: Received): Reply => ({ status: ns.includes(dataOf(request).n) ? 500 : 200 })

test('a record waits while an earlier one with its value is retried; other values continue', async () => {
  const queue = await aQueue()
  sink.answer(refusing(1))
  await queue.send({ key: 'a', n: 1 }, { key: 'a', n: 2 }, { key: 'b', n: 3 })
  await queue.are('retrying', 'pending', 'delivered')
  assert.deepEqual(new Set(queue.seen()), new Set([1, 3]))
  sink.answer({ status: 200 })
  world.clock.advance(6_000)
  await queue.are('delivered', 'delivered', 'delivered')
  assert.deepEqual(queue.seen().slice(2), [1, 2])
})

test('the record that was accepted first is sent first, however many there are', async () => {
  const queue = await aQueue()
  sink.answer({ status: 200 })
  const records = Array.from({ length: 12 }, (_none, n) => ({ key: 'a', n }))
  await queue.send(...records)
  await queue.are(...records.map(() => 'delivered'))
  assert.deepEqual(
    queue.seen(),
    records.map(({ n }) => n),
  )
})

test('a record no longer waits once the earlier one has failed for good or was canceled', async () => {
  const queue = await aQueue({ retry: { schedule_seconds: [0] } })
  sink.answer(refusing(1))
  await queue.send({ key: 'a', n: 1 }, { key: 'a', n: 2 })
  await queue.are('failed', 'delivered')
  const other = await aQueue()
  sink.answer(refusing(3))
  await other.send({ key: 'a', n: 3 }, { key: 'a', n: 4 })
  await other.are('retrying', 'pending')
  assert.equal((await world.admin('POST', `deliveries/${(await other.ids())[0]}/cancel`)).status, 200)
  await other.are('cancelled', 'delivered')
})

test('a record without the value waits for no other, and no other waits for it', async () => {
  const queue = await aQueue()
  sink.answer(refusing(1))
  await queue.send({ n: 1 }, { n: 2 }, { key: null, n: 3 })
  await queue.are('retrying', 'delivered', 'delivered')
})

test('a replayed record goes to the end', async () => {
  const queue = await aQueue()
  sink.answer(refusing(2))
  await queue.send({ key: 'a', n: 1 })
  await queue.are('delivered')
  await queue.send({ key: 'a', n: 2 }, { key: 'a', n: 3 })
  await queue.are('delivered', 'retrying', 'pending')
  assert.equal((await world.admin('POST', `deliveries/${(await queue.ids())[0]}/replay`)).status, 200)
  sink.answer({ status: 200 })
  world.clock.advance(6_000)
  await queue.are('delivered', 'delivered', 'delivered')
  assert.deepEqual(queue.seen(), [1, 2, 2, 3, 1])
})

test('a paused record blocks the records behind it, and is sent first when its destination is on again', async () => {
  const queue = await aQueue()
  sink.answer(refusing(1))
  await queue.send({ key: 'a', n: 1 })
  await queue.are('retrying')
  await world.admin('PATCH', `destinations/${queue.destination.id}`, { enabled: false })
  await queue.send({ key: 'a', n: 2 })
  await queue.are('paused', 'paused')
  sink.answer({ status: 200 })
  await world.admin('PATCH', `destinations/${queue.destination.id}`, { enabled: true })
  await queue.are('delivered', 'delivered')
  assert.deepEqual(queue.seen(), [1, 1, 2])
})

test('an order can be set, changed and removed; records retain the order under which they were accepted', async () => {
  const queue = await aQueue({ ordering: 'none' })
  assert.equal(queue.destination.ordering, 'none')
  sink.answer(refusing(1, 2))
  await queue.send({ key: 'a', n: 1 })
  await queue.are('retrying')
  const patch = async (ordering: unknown) =>
    (await world.admin('PATCH', `destinations/${queue.destination.id}`, { ordering })).body
  assert.deepEqual((await patch({ path: 'key' })).destination.ordering, { path: 'key' })
  await queue.send({ key: 'a', n: 2 }, { key: 'a', n: 3 })
  await queue.are('retrying', 'retrying', 'pending')
  assert.equal((await patch('none')).destination.ordering, 'none')
  await queue.send({ key: 'a', n: 4 })
  await queue.are('retrying', 'retrying', 'pending', 'delivered')
  assert.equal(
    (await patch({ path: '' })).error,
    'ordering.path: A path may not be empty; write one such as "items.0.id".',
  )
  assert.equal(
    (await patch('key')).error,
    'ordering: An order is "none", or an object with a path into the record, such as {"path":"customer.id"}.',
  )
  sink.answer({ status: 200 })
  world.clock.advance(6_000)
  await queue.are('delivered', 'delivered', 'delivered', 'delivered')
  assert.ok(queue.seen().lastIndexOf(2) < queue.seen().indexOf(3))
})
