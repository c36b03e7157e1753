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
  shortly,
  type Delivery,
} from '../stage/delivery-routes.ts'
import { aDestination, post } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'

let world: World
let database: Database

onDeliveryStage((made) => {
  ;({ world, database } = made)
})

// Switching, deleting, replaying

test('a 410 switches the destination off at once and pauses what waits for it; switched on, it is all sent', async (t) => {
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
  assert.equal((await route.delivery(third)).state, 'paused', 'the road knows at once')
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

test('a destination that is switched off is sent nothing; switched on, what was retrying is resumed', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const route = await aRoute(world, sink.url)
  const record = await route.send()
  await route.in(record, 'retrying')
  const off = await route.patch({ enabled: false })
  assert.deepEqual([off.enabled, off.disabled_reason], [false, 'by_hand'])
  assert.equal((await route.delivery(record)).state, 'paused')
  world.clock.advance(60_000)
  await shortly()
  assert.equal(sink.received.length, 1)
  sink.answer({ status: 200 })
  await route.patch({ enabled: true })
  assert.equal((await route.in(record, 'delivered')).attempts[1].trigger, 'resume')
})

test('deleting a destination cancels all that is outstanding, what is being sent included; the rest stays in the list', async (t) => {
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
  await shortly()
  assert.deepEqual((await route.delivery(sending[0])).state, 'cancelled', 'an answer that comes later changes nothing')
  const refused = await route.replay(cut)
  assert.deepEqual([refused.status, refused.body.reason], [409, 'invalid_state'])
  assert.match(refused.body.error, /deleted/)
})

test('deleting a destination and a turn that settles an attempt of it never wait for each other; what is left is cancelled soon', async (t) => {
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
  const cancelled = await eventually(async () => {
    world.clock.advance(1_000)
    const seen = await route.delivery(record)
    return seen.state === 'cancelled' ? seen : undefined
  })
  assert.equal(cancelled.attempts.at(-1).outcome, 'interrupted')
})

test('the body and the event id are the same on every attempt and replay; each attempt has an id of its own', async (t) => {
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
  const delivery = await eventually(async () => {
    const now = await route.in(record, 'delivered')
    return now.attempt_count === 3 ? now : undefined
  })
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

test('a destination’s own schedule is kept; when it is used up the delivery has failed, and a replay starts it afresh', async (t) => {
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

test('many that have ended are replayed behind what is new: they wait as retries do', async (t) => {
  const sink = await aTestSink(t)
  sink.answer((_request, index) => ({ status: index < 2 ? 500 : 200 }))
  const [route, other] = [
    await aRoute(world, sink.url, { retry: { schedule_seconds: [0] } }),
    await aRoute(world, sink.url),
  ]
  const failed = await route.in(await route.send(), 'failed')
  const cancelled = await other.in(await other.send(), 'retrying')
  await world.admin('POST', `deliveries/${cancelled.id}/cancel`)
  const delivered = await route.in(await route.send(), 'delivered')
  for (const { destination } of [route, other]) {
    await world.admin('POST', 'deliveries/replays', {
      filter: { state: ['failed', 'cancelled', 'delivered'], destination_id: destination.id },
    })
  }
  const lastTriggers = async (): Promise<string[]> =>
    Promise.all(
      [failed, cancelled, delivered].map(
        async ({ record_id }) => (await route.delivery(record_id)).attempts.at(-1).trigger,
      ),
    )
  await eventually(async () => {
    world.clock.advance(500)
    return (await lastTriggers()).every((trigger) => trigger === 'replay') ? true : undefined
  }, 2_000)
  for (const { record_id } of [failed, cancelled, delivered]) await route.in(record_id, 'delivered')
})

test('a paused delivery is cancelled with its destination', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, { enabled: false })
  const record = await route.send()
  assert.equal((await route.delivery(record)).state, 'paused')
  await route.remove()
  assert.equal((await route.delivery(record)).state, 'cancelled')
})

test('deleting a project cancels what is outstanding in it, what its lanes’ holder has in hand included', async (t) => {
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
  await eventually(async () => ((await states()).includes('retrying') ? true : undefined))
  await post(webhook.public_url, '{}')
  await receiver.until(2)
  assert.equal((await world.admin('DELETE', `projects/${project.id}`)).status, 200)
  receiver.held[1]?.writeHead(500).end()
  const ended = await eventually(async () => {
    world.clock.advance(1_000)
    return (await states()).every((state) => state === 'cancelled') ? true : undefined
  })
  assert.ok(ended)
  world.clock.advance(60_000)
  await shortly()
  assert.equal(receiver.held.length, 2, 'nothing more is sent')
})

test('only a delivery that has ended can be replayed; while its destination is off it waits', async (t) => {
  const receiver = await aReceiver(t)
  const route = await aRoute(world, receiver.url, { retry: { schedule_seconds: [0, 100] }, max_in_flight: 1 })
  const refusedIn = async (record: string, state: string): Promise<void> => {
    const answer = await route.replay(await route.in(record, state))
    assert.deepEqual([state, answer.status, answer.body.reason], [state, 409, 'invalid_state'])
  }
  const record = await route.send()
  await receiver.until(1)
  await refusedIn(record, 'sending')
  await refusedIn(await route.send(), 'pending')
  receiver.held[0]?.writeHead(500).end()
  await receiver.until(2)
  receiver.held[1]?.end()
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

test('a delivery that was cancelled by hand can be replayed', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const route = await aRoute(world, sink.url)
  const cancelled = async (): Promise<Delivery> => {
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
  const first = await cancelled()
  sink.answer({ status: 200 })
  assert.equal((await route.replay(first)).body.delivery.state, 'pending')
  await route.in(first.record_id, 'delivered')
  await route.patch({ enabled: false })
  assert.equal((await route.replay(await cancelled())).body.delivery.state, 'paused')
})

test('a suspended workspace is sent nothing and loses nothing', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const own = await aWorld({ now: world.clock.now() })
  t.after(() => own.stop())
  await aDestination(own, { url: sink.url })
  await post(own.endpoint, '{}')
  const only = (state: string) =>
    eventually(async () => {
      const [delivery] = (await own.admin('GET', 'deliveries')).body.deliveries
      return delivery?.state === state ? delivery : undefined
    }, 2_000)
  await only('retrying')
  await own.app.deps.database.run(sql`update workspaces set suspended_at = now()`)
  for (let step = 0; step < 8; step += 1) {
    own.clock.advance(3_000)
    await shortly()
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

// Ends of processes

test('a server that is stopped ends what is under way, and another one sends the rest', async (t) => {
  const receiver = await aReceiver(t)
  const first = await aWorld({ now: world.clock.now() })
  t.after(() => first.storage.stop())
  await aDestination(first, { url: receiver.url, max_in_flight: 1 })
  for (let count = 0; count < 3; count += 1) await post(first.endpoint, `{"n":${count}}`)
  await receiver.until(1)
  const stopped = first.app.stop()
  await shortly()
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
  await eventually(async () => ((await states()).every((state) => state === 'delivered') ? true : undefined))
  const attempts = await second.app.deps.database.many(sql`select number, outcome from delivery_attempts`)
  assert.deepEqual(
    [...attempts],
    Array.from({ length: 3 }, () => ({ number: 1, outcome: 'succeeded' })),
  )
})

test('what a server that died was sending is taken over when its lease ends: interrupted, and sent again', async (t) => {
  const receiver = await aReceiver(t)
  const died = await aWorld({ now: world.clock.now() })
  await aDestination(died, { url: receiver.url })
  await post(died.endpoint, '{}')
  await receiver.until(1)
  // The clock of the first one stands still from here on: it beats no more.
  const second = await aWorld({ beside: died, now: died.clock.now() + 14_000 })
  t.after(async () => {
    await second.stop()
    await died.stop()
  })
  await shortly()
  assert.equal(receiver.held.length, 1, 'as long as the lease lives nobody else sends')
  second.clock.advance(2_000)
  await receiver.until(2)
  receiver.held[1]?.end()
  const delivery = await eventually(
    async () => (await second.admin('GET', 'deliveries?state=delivered')).body.deliveries[0],
    2_000,
  )
  receiver.held[0]?.writeHead(500).end()
  await shortly()
  const { attempts, state } = (await second.admin('GET', `deliveries/${delivery.id}`)).body.delivery
  assert.equal(state, 'delivered', 'the late answer to the dead one changes nothing')
  assert.deepEqual(
    attempts.map((attempt: Delivery) => [attempt.number, attempt.trigger, attempt.outcome]),
    [
      [1, 'initial', 'interrupted'],
      [2, 'automatic', 'succeeded'],
    ],
  )
})

test('what a server that lost its lanes may still have under way takes slots at its destination until it has ended at the latest', async (t) => {
  const receiver = await aReceiver(t)
  const lost = await aWorld({ now: world.clock.now() })
  await aDestination(lost, { url: receiver.url, max_in_flight: 2 })
  for (let count = 0; count < 2; count += 1) await post(lost.endpoint, `{"n":${count}}`)
  await receiver.until(2)
  // The clock of the first one stands still from here on: it beats no more, and its requests go on.
  const second = await aWorld({ beside: lost, now: lost.clock.now() + 14_000 })
  t.after(async () => {
    await second.stop()
    await lost.stop()
  })
  const states = async (): Promise<string> =>
    (await second.admin('GET', 'deliveries')).body.deliveries.map((delivery: Delivery) => delivery.state).join()
  second.clock.advance(2_000)
  await eventually(async () => ((await states()) === 'retrying,retrying' ? true : undefined))
  await shortly()
  assert.equal(receiver.held.length, 2, 'the lane has another sender by now, and both slots are taken')
  // They left 5 s after they were begun at the latest, and end 15 s after that.
  second.clock.advance(4_000)
  await receiver.until(4)
  for (const held of receiver.held) held.end()
  await eventually(async () => ((await states()) === 'delivered,delivered' ? true : undefined))
})

test('a server that is stopped breaks off what takes too long, and another one need not wait for it', async (t) => {
  const receiver = await aReceiver(t)
  const first = await aWorld({ now: world.clock.now() })
  t.after(() => first.storage.stop())
  await aDestination(first, { url: receiver.url, max_in_flight: 1 })
  await post(first.endpoint, '{}')
  await receiver.until(1)
  let ended = false
  const stopped = first.app.stop().then(() => (ended = true))
  await eventually(async () => {
    first.clock.advance(20_000)
    return ended ? true : undefined
  })
  await stopped
  const second = await aWorld({ beside: first, now: first.clock.now() })
  t.after(() => second.stop())
  await receiver.until(2)
  assert.equal(receiver.held[0]?.closed, true)
  receiver.held[1]?.end()
  await eventually(async () => (await second.admin('GET', 'deliveries?state=delivered')).body.deliveries[0], 2_000)
})

test('every transition of the table was made here, and none beside it', async () => {
  assert.deepEqual(await movesSeen(database), MOVES)
})
