import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { aKafka, kafkaServer } from '../../chaos/brokers/kafka.ts'
import { aNats, natsServer } from '../../chaos/brokers/nats.ts'
import type { Broker, ServerTls } from '../../chaos/brokers/process.ts'
import { aRabbit, rabbitServer } from '../../chaos/brokers/rabbitmq.ts'
import { aRedis, redisServer } from '../../chaos/brokers/redis.ts'
import type { Resolution } from '../../src/platform/resolver.ts'
import { aRoute, type Delivery } from '../stage/delivery-routes.ts'
import type { World } from '../stage/harness.ts'
import { dns } from '../stage/outbound-door.ts'
import { anAuthority } from '../stage/tls-files.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Encrypted links to real servers. Only the resolver of the server knows these names, so a look-up by a driver would
 * find nothing.
 */
const HOST = 'broker.example.com'
const OTHER_NAME = 'other.example.com'
const MOVED_INSIDE = 'inside.example.com'
const NAMES: Readonly<Record<string, Resolution>> = {
  [HOST]: dns('127.0.0.1'),
  [OTHER_NAME]: dns('127.0.0.1'),
  [MOVED_INSIDE]: dns('10.1.2.3'),
}

let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  {
    resolver: {
      resolve: async (name) => NAMES[name] ?? { kind: 'failure', detail: 'No such name.' },
      close: () => undefined,
    },
    loops: [],
  },
)

const ours = anAuthority()
const server = ours.sign(HOST, { host: HOST })
const client = ours.sign('postroad')
const TLS = { ca: ours.cert, certificate: client.cert, private_key: client.key }

type Kind = {
  readonly name: string
  readonly open: ((tls: ServerTls) => Promise<Broker>) | undefined
  readonly remedy: string
}

const [redis, rabbit, nats, kafka] = [redisServer(), rabbitServer(), natsServer(), kafkaServer()]
const KINDS: readonly Kind[] = [
  {
    name: 'redis_stream',
    open: redis === undefined ? undefined : (tls) => aRedis(redis, tls),
    remedy: 'install the package redis-server',
  },
  {
    name: 'amqp',
    open: rabbit === undefined ? undefined : (tls) => aRabbit(rabbit, tls),
    remedy: 'install the package rabbitmq-server',
  },
  {
    name: 'nats',
    open: nats === undefined ? undefined : (tls) => aNats(nats, tls),
    remedy: 'set NATS_SERVER to the path of nats-server',
  },
  {
    name: 'kafka',
    open: kafka === undefined ? undefined : (tls) => aKafka(kafka, tls),
    remedy: 'set KAFKA_TEST_CLASSPATH to the class path of a Kafka broker',
  },
]

for (const { name, open, remedy } of KINDS) {
  if (open === undefined) process.emitWarning(`The TLS tests of ${name} are skipped: ${remedy} to run them.`)

  describe(`an encrypted link of the kind ${name}`, { skip: open === undefined }, () => {
    let broker: Broker
    before(async () => {
      if (open !== undefined) broker = await open({ ...server, ca: ours.cert, host: HOST })
    })
    after(() => broker.stop())

    /** The delivery of one event, which has ended or has failed once. */
    const sent = async (members: { tls?: object; url?: string }): Promise<{ delivery: Delivery; id: string }> => {
      const to = await aRoute(world, broker.members.url, { ...broker.members, ...members })
      const id = await to.send()
      return { id, delivery: await to.in(id, 'delivered', 'retrying', 'failed') }
    }
    const isThere = async (id: string): Promise<boolean> => (await broker.stored()).some((event) => event.id === id)
    /** The failure of an event that the server must not receive. */
    const failureOf = async (members: { tls?: object; url?: string }): Promise<{ code: string; detail: string }> => {
      const { delivery, id } = await sent(members)
      assert.equal(delivery.state, 'retrying')
      assert.equal(await isThere(id), false)
      const { error_code: code, error_detail: detail } = delivery.attempts[0]
      return { code, detail }
    }
    const at = (host: string): string => broker.members.url.replace(HOST, host)

    test('a certificate of an authority in tls.ca is accepted, at the address that the guard has checked', async () => {
      const { delivery, id } = await sent({ tls: TLS })
      assert.equal(delivery.state, 'delivered', delivery.attempts[0].error_detail)
      assert.ok(await isThere(id))
    })

    test('a certificate of an unknown authority fails with tls_failed', async () => {
      const { code, detail } = await failureOf({ tls: { ...TLS, ca: anAuthority().cert } })
      assert.equal(code, 'tls_failed', detail)
      assert.match(detail, /certificate/)
    })

    test('a certificate of another host name fails with tls_failed', async () => {
      const { code, detail } = await failureOf({ tls: TLS, url: at(OTHER_NAME) })
      assert.equal(code, 'tls_failed', detail)
      assert.match(detail, /different host name/)
    })

    test('a URL with an address instead of the name in the certificate fails with tls_failed', async () => {
      const { code, detail } = await failureOf({ tls: TLS, url: at('127.0.0.1') })
      assert.equal(code, 'tls_failed', detail)
    })

    test('Postroad does not connect to a name with a private address', async () => {
      const { code, detail } = await failureOf({ tls: TLS, url: at(MOVED_INSIDE) })
      assert.equal(code, 'blocked_address', detail)
    })

    test('an attempt without the client certificate that the server demands fails', async () => {
      const { code, detail } = await failureOf({ tls: { ca: ours.cert } })
      assert.match(code, /^(tls_failed|connection_reset)$/, detail)
    })
  })
}
