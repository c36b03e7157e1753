import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aRabbit, rabbitServer } from '../../chaos/brokers/rabbitmq.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** RabbitMQ destinations, with a real server. */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

type Login = { readonly username: string; readonly password: string }
const rabbit = rabbitServer()
const DELIVERIES = 40

test(
  'no delivery of an event is accepted without a queue, however many are sent at the same time',
  { skip: rabbit === undefined },
  async (t) => {
    const broker = await aRabbit(rabbit ?? '')
    t.after(() => broker.stop())
    const { url, auth } = broker.members as typeof broker.members & { readonly auth: Login }
    const { hostname: host, port } = new URL(url)
    const send = (delivery: number) =>
      world.app.deps.links.send({
        lane: 'an example',
        key: 'unbound',
        place: {
          host,
          port: Number(port),
          path: '/',
          protocol: 'amqp:',
          isEncrypted: false,
          tls: null,
          user: { name: auth.username, password: auth.password },
          token: null,
        },
        config: { kind: 'amqp', exchange: '', routing_key: 'unbound' },
        maxInFlight: DELIVERIES,
        message: {
          id: 'rec_example',
          dataset: 'orders',
          receivedAt: new Date(world.clock.now()),
          body: '{}',
          headers: { 'service-delivery-id': `att_${delivery}` },
        },
        timeoutMs: 10_000,
      })
    const results = await Promise.all(Array.from({ length: DELIVERIES }, (_none, delivery) => send(delivery)))
    assert.deepEqual(
      results.filter((result) => result.kind === 'accepted' || result.code !== 'refused'),
      [],
    )
  },
)
