import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { cancelOutstanding } from '../../src/resources/delivery/deliveries/queries.ts'
import {
  advanceTo,
  aReceiver,
  aRoute,
  assertAbout,
  aTestSink,
  MOVES,
  movesSeen,
  onDeliveryStage,
  secondsUntil,
  type Delivery,
} from '../stage/delivery-routes.ts'
import { aDestination, post } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'

let world: World
let database: Database

onDeliveryStage((made) => {
  ;({ world, database } = made)
})

// Disabling, deleting, replaying

test('a 410 disables the destination immediately and pauses its waiting deliveries; once it is enabled, all of them are sent', async (t) => {
  const receiver = await aReceiver(t)
  const route = await aRoute(world, receiver.url, { max_in_flight: 1 })
  const first = await route.send()
  await receiver.until(1)
  const second = await route.send()
  receiver.held[0]?.writeHead(410).end()
  const paused = await route.in(first, 'paused')
  assert.deepEqual(
    [paused.pause_reason, paused.last_status, paused.next_attempt_at],
    ['destination_disabled', 410, null],
  )
  assert.equal((await route.in(second, 'paused')).attempt_count, 0)
  const { destination } = (await world.admin('GET', `destinations/${route.destination.id}`)).body
  assert.deepEqual([destination.enabled, destination.disabled_reason], [false, 'gone'])
  assert.notEqual(destination.disabled_at, null)
  const { id: attempt } = (await route.delivery(first)).attempts.at(-1)
  const row = await database.one<{ actor: string; details: string }>(
    sql`select actor, details from audit_rows where target = ${destination.id} and action = 'disable_destination'`,
  )
  assert.deepEqual([row.actor, JSON.parse(row.details)], ['system', { reason: 'gone', attempt }])
  const third = await route.send()
  assert.equal((await route.delivery(third)).state, 'paused', 'the road learns of it at once')
  const on = await route.patch({ enabled: true })
  assert.deepEqual([on.enabled, on.disabled_reason, on.disabled_at], [true, null, null])
  for (let count = 2; count <= 4; count += 1) {
    await receiver.until(count)
    receiver.held[count - 1]?.end()
  }
  const triggers = await Promise.all(
    [first, second, third].map(async (record) => (await route.in(record, 'delivered')).attempts.at(-1).trigger),
  )
  assert.deepEqual(triggers, ['resume', 'initial', 'initial'])
})

test('a disabled destination is sent nothing; once it is enabled, its retries resume', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const route = await aRoute(world, sink.url)
  const record = await route.send()
  await route.in(record, 'retrying')
  const off = await route.patch({ enabled: false })
  assert.deepEqual([off.enabled, off.disabled_reason], [false, 'by_hand'])
  assert.equal((await route.delivery(record)).state, 'paused')
  world.clock.advance(60_000)
  await world.idle()
  assert.equal(sink.received.length, 1)
  sink.answer({ status: 200 })
  await route.patch({ enabled: true })
  assert.equal((await route.in(record, 'delivered')).attempts[1].trigger, 'resume')
})

test('the deletion of a destination cancels all outstanding deliveries, also one under way; ended ones stay in the list', async (t) => {
  const receiver = await aReceiver(t)
  const route = await aRoute(world, receiver.url, { max_in_flight: 2 })
  const done = await route.send()
  await receiver.until(1)
  receiver.held[0]?.end()
  await route.in(done, 'delivered')
  const retrying = await route.send()
  await receiver.until(2)
  receiver.held[1]?.writeHead(500).end()
  await route.in(retrying, 'retrying')
  const sending = await Promise.all([route.send(), route.send()])
  await receiver.until(4)
  const pending = await route.send()
  await route.remove()
  for (const record of [retrying, ...sending, pending]) assert.equal((await route.delivery(record)).state, 'cancelled')
  assert.equal((await route.delivery(done)).state, 'delivered')
  const cut = await route.delivery(sending[0])
  assert.equal(cut.attempts[0].outcome, 'interrupted')
  receiver.held[2]?.end()
  receiver.held[3]?.end()
  await world.idle()
  assert.deepEqual((await route.delivery(sending[0])).state, 'cancelled', 'an answer that comes later changes nothing')
  const refused = await route.replay(cut)
  assert.deepEqual([refused.status, refused.body.reason], [409, 'invalid_state'])
  assert.match(refused.body.error, /deleted/)
})

test('the deletion of a destination and a turn that settles an attempt of it never deadlock; the remaining deliveries are canceled soon', async (t) => {
  const receiver = await aReceiver(t)
  const route = await aRoute(world, receiver.url)
  const record = await route.send()
  await receiver.until(1)
  const delivery = decodeId('delivery', (await route.delivery(record)).id) ?? ''
  await database.transaction(async (turn) => {
    await turn.run(sql`select from delivery_attempts where delivery_id = ${delivery} for update`)
    await route.remove()
    await turn.run(sql`select from deliveries where id = ${delivery} for update`)
  })
  receiver.held[0]?.end()
  for (let seconds = 0; seconds < 5; seconds += 1) {
    await world.idle()
    world.clock.advance(1_000)
  }
  const canceled = await route.in(record, 'cancelled')
  assert.equal(canceled.attempts.at(-1).outcome, 'interrupted')
})

test('the body and the event id are the same on every attempt and replay; each attempt has a separate id', async (t) => {
  const sink = await aTestSink(t)
  sink.answer((_request, index) => ({ status: index === 0 ? 500 : 200 }))
  const route = await aRoute(world, sink.url)
  const record = await route.send('{"a":[1, 2]}')
  advanceTo(world, await route.in(record, 'retrying'))
  await route.replay(await route.in(record, 'delivered'))
  const received = await sink.until(3)
  assert.equal(new Set(received.map(({ body }) => body)).size, 1)
  for (const name of ['service-event-id', 'webhook-id'])
    assert.deepEqual(new Set(received.map(({ headers }) => headers[name])), new Set([record]))
  assert.deepEqual(
    received.map(({ headers }) => headers['service-attempt']),
    ['1', '2', '3'],
  )
  const delivery = await route.in(record, 'delivered')
  assert.deepEqual(
    delivery.attempts.map((attempt: Answer['body']) => attempt.id),
    received.map(({ headers }) => headers['service-delivery-id']),
  )
  assert.deepEqual(
    delivery.attempts.map((attempt: Answer['body']) => [attempt.number, attempt.trigger, attempt.outcome]),
    [
      [1, 'initial', 'failed'],
      [2, 'automatic', 'succeeded'],
      [3, 'replay', 'succeeded'],
    ],
  )
})

test('the custom schedule of a destination applies; when it is used up the delivery has failed, and a replay starts it again', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500, body: 'no' })
  const route = await aRoute(world, sink.url, { retry: { schedule_seconds: [0, 100] } })
  const record = await route.send()
  const retrying = await route.in(record, 'retrying')
  assertAbout(secondsUntil(world, retrying), 100)
  advanceTo(world, retrying)
  const failed = await route.in(record, 'failed')
  assert.deepEqual(
    [failed.attempt_count, failed.next_attempt_at, failed.last_status, failed.last_error],
    [2, null, 500, 'bad_status'],
  )
  assert.equal(failed.attempts[1].next_attempt_at, null)
  const replayed = await route.replay(failed)
  assert.equal(replayed.body.delivery.state, 'pending')
  const again = await route.in(record, 'retrying')
  assert.equal(again.attempts[2].trigger, 'replay')
  assertAbout(secondsUntil(world, again), 100)
  await route.remove()
})

test('deliveries of a bulk replay go behind new events, as retries do', async (t) => {
  const sink = await aTestSink(t)
  sink.answer((_request, index) => ({ status: index < 2 ? 500 : 200 }))
  const [route, other] = [
    await aRoute(world, sink.url, { retry: { schedule_seconds: [0] } }),
    await aRoute(world, sink.url),
  ]
  const failed = await route.in(await route.send(), 'failed')
  const canceled = await other.in(await other.send(), 'retrying')
  await world.admin('POST', `deliveries/${canceled.id}/cancel`)
  const delivered = await route.in(await route.send(), 'delivered')
  for (const { destination } of [route, other]) {
    await world.admin('POST', 'deliveries/replays', {
      filter: { state: ['failed', 'cancelled', 'delivered'], destination_id: destination.id },
    })
  }
  const lastTriggers = async (): Promise<string[]> =>
    Promise.all(
      [failed, canceled, delivered].map(
        async ({ record_id }) => (await route.delivery(record_id)).attempts.at(-1).trigger,
      ),
    )
  await world.run('replays.advance')
  world.clock.advance(1_500)
  await world.idle()
  assert.deepEqual(await lastTriggers(), ['replay', 'replay', 'replay'])
  for (const { record_id } of [failed, canceled, delivered]) await route.in(record_id, 'delivered')
})

test('a paused delivery is canceled with its destination', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, { enabled: false })
  const record = await route.send()
  assert.equal((await route.delivery(record)).state, 'paused')
  await route.remove()
  assert.equal((await route.delivery(record)).state, 'cancelled')
})

test('the deletion of a project cancels its outstanding deliveries, also those that the owner of its lanes is sending', async (t) => {
  const receiver = await aReceiver(t)
  const { project } = (await world.admin('POST', 'projects', { name: 'Short-lived' })).body
  const inside = (method: string, path: string, body?: object): Promise<Answer> =>
    world.admin(method, `projects/${project.id}/${path}`, body)
  const { webhook } = (await inside('POST', 'webhooks', { name: 'in' })).body
  await inside('POST', 'destinations', { name: 'out', url: receiver.url, max_in_flight: 2 })
  await inside('POST', 'destinations', { name: 'off', url: receiver.url, enabled: false })
  const projectId = decodeId('project', project.id) ?? ''
  const states = async (): Promise<string[]> => {
    const rows = await database.many<{ state: string }>(
      sql`select state from deliveries where project_id = ${projectId} order by state`,
    )
    return rows.map(({ state }) => state)
  }
  await post(webhook.public_url, '{}')
  await receiver.until(1)
  receiver.held[0]?.writeHead(500).end()
  await world.idle()
  assert.ok((await states()).includes('retrying'))
  await post(webhook.public_url, '{}')
  await receiver.until(2)
  assert.equal((await world.admin('DELETE', `projects/${project.id}`)).status, 200)
  receiver.held[1]?.writeHead(500).end()
  await world.idle()
  world.clock.advance(1_000)
  await world.idle()
  assert.deepEqual(new Set(await states()), new Set(['cancelled']))
  world.clock.advance(60_000)
  await world.idle()
  assert.equal(receiver.held.length, 2, 'nothing more is sent')
})

test('only an ended delivery can be replayed; while its destination is off it waits', async (t) => {
  const receiver = await aReceiver(t)
  const route = await aRoute(world, receiver.url, { retry: { schedule_seconds: [0, 100] }, max_in_flight: 1 })
  const refusedIn = async (record: string, state: string): Promise<void> => {
    const delivery = await route.delivery(record)
    const answer = await route.replay(delivery)
    assert.deepEqual([delivery.state, answer.status, answer.body.reason], [state, 409, 'invalid_state'])
  }
  const record = await route.send()
  await receiver.until(1)
  await refusedIn(record, 'sending')
  await refusedIn(await route.send(), 'pending')
  receiver.held[0]?.writeHead(500).end()
  await receiver.until(2)
  receiver.held[1]?.end()
  await world.idle()
  await refusedIn(record, 'retrying')
  await route.patch({ enabled: false })
  await refusedIn(record, 'paused')
  await route.patch({ enabled: true })
  await receiver.until(3)
  receiver.held[2]?.writeHead(500).end()
  const failed = await route.in(record, 'failed')
  await route.patch({ enabled: false })
  assert.equal((await route.replay(failed)).body.delivery.state, 'paused')
  await route.patch({ enabled: true })
  await receiver.until(4)
  receiver.held[3]?.end()
  const delivered = await route.in(record, 'delivered')
  assert.equal(delivered.attempts.at(-1).trigger, 'resume')
  await route.patch({ enabled: false })
  assert.equal((await route.replay(delivered)).body.delivery.pause_reason, 'destination_disabled')
})

test('a manually canceled delivery can be replayed', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const route = await aRoute(world, sink.url)
  const canceled = async (): Promise<Delivery> => {
    const record = await route.send()
    await route.in(record, 'retrying', 'paused')
    const row = await database.one<{ workspace_id: string }>(sql`select workspace_id from projects limit 1`)
    const destinationId = decodeId('destination', route.destination.id) ?? ''
    await cancelOutstanding(database, {
      workspaceId: row.workspace_id,
      destinationId,
      now: new Date(world.clock.now()),
    })
    return route.in(record, 'cancelled')
  }
  const first = await canceled()
  sink.answer({ status: 200 })
  assert.equal((await route.replay(first)).body.delivery.state, 'pending')
  await route.in(first.record_id, 'delivered')
  await route.patch({ enabled: false })
  assert.equal((await route.replay(await canceled())).body.delivery.state, 'paused')
})

test('a suspended workspace is sent nothing and loses nothing', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const own = await aWorld({ now: world.clock.now(), loops: [] })
  t.after(() => own.stop())
  await aDestination(own, { url: sink.url })
  await post(own.endpoint, '{}')
  const only = async (state: string) => {
    await own.idle()
    const [delivery] = (await own.admin('GET', 'deliveries')).body.deliveries
    assert.equal(delivery.state, state)
    return delivery
  }
  await only('retrying')
  await own.app.deps.database.run(sql`update workspaces set suspended_at = now()`)
  for (let step = 0; step < 8; step += 1) {
    own.clock.advance(3_000)
    await own.idle()
  }
  assert.equal((await only('paused')).pause_reason, 'workspace_suspended')
  assert.equal(sink.received.length, 1)
  assert.equal(
    (await own.admin('POST', 'destinations', { name: 'x', url: sink.url })).body.reason,
    'workspace_suspended',
  )
  sink.answer({ status: 200 })
  await own.app.deps.database.run(sql`update workspaces set suspended_at = null`)
  own.clock.advance(3_000)
  assert.equal((await only('delivered')).attempt_count, 2)
})

test('these tests made every transition of the table, and no other', async () => {
  assert.deepEqual(await movesSeen(database), MOVES)
})
