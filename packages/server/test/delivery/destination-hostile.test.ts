import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aRoute, aReceiver } from '../stage/delivery-routes.ts'
import { eventually, type World } from '../stage/harness.ts'
import { aHostilePeer, endlessly, natsAnswering } from '../stage/hostile-peers.ts'
import { until } from '../stage/outbound-door.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Destinations that abuse a connection. test/platform/guarded-links.test.ts has each kind. */
let world: World
onWorldStage((made) => {
  ;({ world } = made)
})

const NATS = { config: { kind: 'nats', subject: 'events' } } as const

test('a test of a destination whose greeting never ends returns the reason, and the socket is gone', async (t) => {
  const peer = await aHostilePeer(t, (socket) => endlessly(socket, 'INFO {'))
  const to = await aRoute(world, `nats://127.0.0.1:${peer.port}`, NATS)
  const { status, body } = await world.admin('POST', `destinations/${to.destination.id}/test`, {})
  assert.deepEqual([status, body.attempt.outcome, body.attempt.error_code], [200, 'failed', 'response_too_large'])
  assert.match(body.attempt.error_detail, /Check that it is NATS\.$/)
  await until(() => peer.counts.open === 0)
})

test('the deletion of a destination ends its connection and the attempt under way', async (t) => {
  const peer = await aHostilePeer(
    t,
    natsAnswering(() => undefined),
  )
  const to = await aRoute(world, `nats://127.0.0.1:${peer.port}`, { ...NATS, timeout_ms: 60_000 })
  const record = await to.send()
  await eventually('the delivery is under way', async () =>
    (await to.delivery(record)).state === 'sending' ? true : undefined,
  )
  await until(() => peer.counts.open === 1)
  await to.remove()
  await until(() => peer.counts.open === 0)
  const { attempts } = await to.in(record, 'cancelled')
  assert.equal(attempts.length, 1)
})

test('the deletion of a destination ends its HTTP request under way and its idle connections', async (t) => {
  const receiver = await aReceiver(t)
  const to = await aRoute(world, receiver.url, { timeout_ms: 60_000, max_in_flight: 2 })
  const other = await aRoute(world, receiver.url, { timeout_ms: 60_000 })
  await Promise.all([to.send(), to.send(), other.send()])
  await receiver.until(3)
  const sockets = receiver.held.map((response) => response.socket)
  const of = receiver.held.map(({ req }) => JSON.stringify(req.headers['service-dataset']))
  const [first] = receiver.held.filter((_response, nth) => of[nth] === JSON.stringify(to.dataset))
  first?.writeHead(200).end()
  await eventually('the answered connection is idle', async () =>
    world.app.deps.outbound.stats().idle === 1 ? true : undefined,
  )
  await to.remove()
  const ours = sockets.filter((_socket, nth) => of[nth] === JSON.stringify(to.dataset))
  await until(() => ours.length === 2 && ours.every((socket) => socket?.destroyed === true))
  assert.deepEqual(
    sockets.filter((socket) => !ours.includes(socket)).map((socket) => socket?.destroyed),
    [false],
  )
})
