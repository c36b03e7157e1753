import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from '../../src/platform/db.ts'
import { aReceiver, onDeliveryStage, type Delivery } from '../stage/delivery-routes.ts'
import { aDestination, post } from '../stage/fixtures.ts'
import { aWorld, eventually, type World } from '../stage/harness.ts'
import { whileTimePasses } from '../stage/meanwhile.ts'

/** Deliveries when a process stops, crashes or loses its lanes. */
let world: World

onDeliveryStage((made) => {
  ;({ world } = made)
})

test('a server that stops finishes its open requests, and another one sends the rest', async (t) => {
  const receiver = await aReceiver(t)
  const first = await aWorld({ now: world.clock.now(), loops: [] })
  t.after(() => first.storage.stop())
  await aDestination(first, { url: receiver.url, max_in_flight: 1 })
  for (let count = 0; count < 3; count += 1) await post(first.endpoint, `{"n":${count}}`)
  await receiver.until(1)
  const stopped = first.app.stop()
  // The delivery loop stops directly after the listener.
  await eventually('the first server has closed its listener', () =>
    fetch(`${first.address}/healthz`).then(
      () => undefined,
      () => true,
    ),
  )
  for (let turns = 0; turns < 20; turns += 1) await nextTurn()
  receiver.held[0]?.end()
  await stopped
  assert.equal(receiver.held.length, 1, 'nothing more is begun')
  const second = await aWorld({ beside: first, now: first.clock.now() })
  t.after(() => second.stop())
  const states = async (): Promise<string[]> =>
    (await second.admin('GET', 'deliveries')).body.deliveries.map((delivery: Delivery) => delivery.state)
  for (const count of [2, 3]) {
    await receiver.until(count)
    receiver.held[count - 1]?.end()
  }
  await second.idle()
  assert.deepEqual(await states(), ['delivered', 'delivered', 'delivered'])
  const attempts = await second.app.deps.database.many(sql`select number, outcome from delivery_attempts`)
  assert.deepEqual(
    [...attempts],
    Array.from({ length: 3 }, () => ({ number: 1, outcome: 'succeeded' })),
  )
})

test('when the lease of a crashed server ends, its attempts under way are recovered as interrupted and sent again', async (t) => {
  const receiver = await aReceiver(t)
  const died = await aWorld({ now: world.clock.now(), loops: [] })
  await aDestination(died, { url: receiver.url })
  await post(died.endpoint, '{}')
  await receiver.until(1)
  // The clock of the first server does not move from here on, so it sends no more heartbeats.
  const second = await aWorld({ beside: died, now: died.clock.now() + 14_000 })
  t.after(async () => {
    await second.stop()
    await died.stop()
  })
  // The first server has a request under way, so only the second one is idle.
  await second.app.whenIdle()
  assert.equal(receiver.held.length, 1, 'nobody else sends before the lease expires')
  second.clock.advance(2_000)
  await receiver.until(2)
  receiver.held[1]?.end()
  await second.app.whenIdle()
  const [delivery] = (await second.admin('GET', 'deliveries?state=delivered')).body.deliveries
  receiver.held[0]?.writeHead(500).end()
  await second.idle()
  const { attempts, state } = (await second.admin('GET', `deliveries/${delivery.id}`)).body.delivery
  assert.equal(state, 'delivered', 'the late answer to the dead process changes nothing')
  assert.deepEqual(
    attempts.map((attempt: Delivery) => [attempt.number, attempt.trigger, attempt.outcome]),
    [
      [1, 'initial', 'interrupted'],
      [2, 'automatic', 'succeeded'],
    ],
  )
})

test('the requests of a server that lost its lanes take slots at their destination until the latest time at which they can end', async (t) => {
  const receiver = await aReceiver(t)
  const lost = await aWorld({ now: world.clock.now(), loops: [] })
  await aDestination(lost, { url: receiver.url, max_in_flight: 2 })
  for (let count = 0; count < 2; count += 1) await post(lost.endpoint, `{"n":${count}}`)
  await receiver.until(2)
  // The clock of the first server does not move from here on: it sends no more heartbeats, and its requests continue.
  const second = await aWorld({ beside: lost, now: lost.clock.now() + 14_000 })
  t.after(async () => {
    await second.stop()
    await lost.stop()
  })
  const states = async (): Promise<string> =>
    (await second.admin('GET', 'deliveries')).body.deliveries.map((delivery: Delivery) => delivery.state).join()
  second.clock.advance(2_000)
  await second.app.whenIdle()
  assert.equal(await states(), 'retrying,retrying')
  assert.equal(receiver.held.length, 2, 'the lane has another sender by now, and both slots are taken')
  // The requests left at most 5 s after their start, and end at most 15 s after that.
  second.clock.advance(4_000)
  await receiver.until(4)
  for (const held of receiver.held) held.end()
  await second.idle()
  assert.equal(await states(), 'delivered,delivered')
})

test('a server that stops aborts requests that take too long, and the next server does not wait for them', async (t) => {
  const receiver = await aReceiver(t)
  const first = await aWorld({ now: world.clock.now(), loops: [] })
  t.after(() => first.storage.stop())
  await aDestination(first, { url: receiver.url, max_in_flight: 1 })
  await post(first.endpoint, '{}')
  await receiver.until(1)
  await whileTimePasses([first], first.app.stop(), 20_000)
  const second = await aWorld({ beside: first, now: first.clock.now() })
  t.after(() => second.stop())
  await receiver.until(2)
  assert.equal(receiver.held[0]?.closed, true)
  receiver.held[1]?.end()
  await second.idle()
  assert.equal((await second.admin('GET', 'deliveries?state=delivered')).body.deliveries.length, 1)
})
