import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aReceiver, aRoute, aTestSink, onDeliveryStage, type Route } from '../stage/delivery-routes.ts'
import { atGate, rowsGate } from '../stage/gates.ts'
import type { World } from '../stage/harness.ts'

let world: World
let database: Database

onDeliveryStage((made) => {
  ;({ world, database } = made)
})

/** The id of the destination in the database. */
const idOf = (route: Route): string => {
  const id = decodeId('destination', route.destination.id)
  assert.ok(id)
  return id
}

const laneOf = (route: Route) =>
  rowsGate('the lane', sql`select from lanes where destination_id = ${idOf(route)} for update`)

/** This process owns the lane of the route from now on. */
async function owned(route: Route): Promise<Route> {
  await route.in(await route.send(), 'delivered')
  return route
}

test('the commit of an event starts its delivery when this process owns the lane, and the request has the stored payload', async (t) => {
  const sink = await aTestSink(t)
  const route = await owned(await aRoute(world, sink.url))
  const body = '{"n": 1.50, "text": "é\\u00e9 \'quoted\'"}'
  const [sent] = await atGate(database, laneOf(route), async (gate) => {
    const sending = route.send(body)
    // Nothing but a start needs the lane, so it is the commit of the event that waits.
    await gate.waiting()
    assert.equal(sink.received.length, 1)
    return [sending]
  })
  assert.ok(sent)
  const delivery = await route.in(await sent, 'delivered')
  assert.deepEqual(
    delivery.attempts.map((attempt: { number: number; trigger: string; outcome: string }) => [
      attempt.number,
      attempt.trigger,
      attempt.outcome,
    ]),
    [[1, 'initial', 'succeeded']],
  )
  assert.ok(sink.received[1]?.body.includes(body))
})

test('every attempt of a delivery sends the same body, also when the first one started with the commit', async (t) => {
  const sink = await aTestSink(t)
  const route = await owned(await aRoute(world, sink.url, { retry: { schedule_seconds: [0] } }))
  const delivery = await route.in(await route.send('{"n":2}'), 'delivered')
  assert.equal((await route.replay(delivery)).status, 200)
  await route.in(delivery.record_id, 'delivered')
  const [, first, again] = sink.received.map((request) => request.body)
  assert.ok(first)
  assert.equal(first, again)
})

test('a process that lost its lane cannot start a delivery with the commit, and the event is stored all the same', async (t) => {
  const receiver = await aReceiver(t, (_request, response) => response.end())
  const route = await owned(await aRoute(world, receiver.url))
  const [sent] = await atGate(database, laneOf(route), async (gate) => {
    const sending = route.send()
    await gate.waiting()
    await gate.tx.run(sql`update lanes set owner = null, fence = fence + 1 where destination_id = ${idOf(route)}`)
    return [sending]
  })
  assert.ok(sent)
  const recordId = await sent
  const open = await database.many(sql`
    select id from delivery_attempts where destination_id = ${idOf(route)} and outcome is null
  `)
  assert.equal(open.length, 0)
  // The next owner sends it once.
  world.clock.advance(20_000)
  await route.in(recordId, 'delivered')
  assert.equal(receiver.held.length, 2)
})

test('the commit does not start a delivery to a destination that is off by now, although the plan of this process is older', async (t) => {
  const sink = await aTestSink(t)
  const route = await owned(await aRoute(world, sink.url))
  // No process is notified of this.
  await database.run(sql`update destinations set enabled = false where id = ${idOf(route)}`)
  const recordId = await route.send()
  await world.idle()
  assert.equal(sink.received.length, 1)
  assert.deepEqual((await route.delivery(recordId)).attempts, [])
})
