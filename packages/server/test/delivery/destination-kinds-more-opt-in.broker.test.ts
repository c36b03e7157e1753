import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parquetReadObjects } from 'hyparquet'
import { leadersAt } from '../../chaos/brokers/kafka-client.ts'
import { aKafka, aKafkaCluster, kafkaServer } from '../../chaos/brokers/kafka.ts'
import { anS3, s3Server } from '../../chaos/brokers/s3.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { aRoute, type Delivery, type Route } from '../stage/delivery-routes.ts'
import { eventually, type World } from '../stage/harness.ts'
import { dns } from '../stage/outbound-door.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** More tests with real servers that environment variables name: a Kafka cluster, its logins, and Parquet objects. */
const CLUSTER = 'cluster.example.com'
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  {
    resolver: {
      resolve: async (name) =>
        name === CLUSTER ? dns('127.0.0.2', '127.0.0.3') : { kind: 'failure', detail: 'No such name.' },
      close: () => undefined,
    },
    loops: [],
  },
)

/** The delivery once it has arrived, while time passes. Stores judge the time of a request, so the wall clock stays the real one. */
const arrived = (to: Route, record: string): Promise<Delivery> =>
  eventually('the delivery has arrived', async () => {
    const delivery = await to.delivery(record)
    if (delivery.state === 'delivered') return delivery
    world.clock.advance(1_000)
    world.clock.wallAheadMs = systemClock().wall() - world.clock.now()
    return undefined
  })

const classPath = kafkaServer()
const noKafka = classPath === undefined && 'KAFKA_TEST_CLASSPATH names no Kafka'

test('Kafka: PLAIN and SCRAM-SHA-512 log in, and a wrong password does not', { skip: noKafka }, async (t) => {
  const broker = await aKafka(classPath ?? '')
  t.after(() => broker.stop())
  for (const sasl of ['PLAIN', 'SCRAM-SHA-512']) {
    const members = { ...broker.members, config: { ...broker.members.config, sasl } }
    const to = await aRoute(world, broker.members.url, members)
    await arrived(to, await to.send())
    const auth = { kind: 'basic', username: 'app', password: 'wrong' }
    const wrong = await aRoute(world, broker.members.url, { ...members, auth })
    const { attempts } = await wrong.in(await wrong.send(), 'retrying')
    assert.equal(attempts[0].error_code, 'auth_failed', attempts[0].error_detail)
  }
})

test(
  'Kafka: when a broker of a cluster dies, the events of its partitions go to the next leader',
  { skip: noKafka },
  async (t) => {
    const cluster = await aKafkaCluster(classPath ?? '', CLUSTER)
    t.after(() => cluster.stop())
    const to = await aRoute(world, cluster.members.url, { ...cluster.members, timeout_ms: 5_000 })
    const before = await Promise.all(Array.from({ length: 6 }, () => to.send()))
    for (const record of before) await arrived(to, record)
    const [first, second] = cluster.brokers
    assert.ok(first !== undefined && second !== undefined)
    const led = await leadersAt({ host: second.host, port: second.port })
    const [dies, lives] = led.some(({ host }) => host === first.host) ? [first, second] : [second, first]
    await dies.kill()
    const after = await Promise.all(Array.from({ length: 12 }, () => to.send()))
    for (const record of after) await arrived(to, record)
    const stored = new Set((await cluster.storedAt(lives)).map(({ id }) => id))
    assert.deepEqual(
      [...before, ...after].filter((record) => !stored.has(record)),
      [],
    )
  },
)

const file = s3Server()
const noStore = file === undefined && 'VERSITYGW names no S3 server'

test('S3: the rows of a Parquet object are the events', { skip: noStore }, async (t) => {
  const store = await anS3(file ?? '')
  t.after(() => store.stop())
  const config = { ...store.members.config, format: 'parquet' }
  const to = await aRoute(world, store.members.url, { ...store.members, config, max_in_flight: 3 })
  const bodies = ['{"n":1}', '{"text":"Grüße \\u00e4"}', '{"list":[1,null,{"a":true}]}']
  const records = await Promise.all(bodies.map((body) => to.send(body)))
  const deliveries = []
  for (const record of records) deliveries.push(await arrived(to, record))
  const paths = globSync(`${store.folder}/data/**/*.parquet`)
  const rows = (
    await Promise.all(
      paths.map(async (path) => {
        const { buffer, byteOffset, byteLength } = readFileSync(path)
        return parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + byteLength) })
      }),
    )
  ).flat()
  assert.equal(rows.length, records.length)
  for (const [index, record] of records.entries()) {
    const row = rows.find(({ id }) => id === record) ?? assert.fail(record)
    const { received_at: receivedAt, ...body } = JSON.parse(String(row['body']))
    assert.deepEqual(
      [row['dataset'], body],
      [to.dataset, { id: record, dataset: to.dataset, data: JSON.parse(bodies[index] ?? '') }],
    )
    assert.deepEqual(row['received_at'], new Date(receivedAt))
    assert.match(
      deliveries[index]?.attempts[0].response_body,
      /^Stored in s3:\/\/events\/events\/.*\.parquet, with \d events?$/,
    )
  }
})
