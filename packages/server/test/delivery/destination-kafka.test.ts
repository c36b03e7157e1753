import assert from 'node:assert/strict'
import { test } from 'node:test'
import { murmur2 } from '@platformatic/kafka'
import { advanceTo, aRoute, type Delivery } from '../stage/delivery-routes.ts'
import type { World } from '../stage/harness.ts'
import type { KafkaUser, Mechanism } from '../stage/kafka-login.ts'
import { aFakeKafka, type FakeKafka } from '../stage/kafka-server.ts'
import { anAuthority } from '../stage/tls-files.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Kafka destinations, with a local server that speaks the part of the protocol that a producer needs.
 * destination-kinds-opt-in.broker.test.ts has the real broker.
 */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const CONFIG = { kind: 'kafka', topic: 'events' } as const
async function sentTo({ url }: FakeKafka, members: object = {}): Promise<{ delivery: Delivery; record: string }> {
  const to = await aRoute(world, url, { config: CONFIG, ...members })
  const record = await to.send()
  return { record, delivery: await to.in(record, 'delivered', 'retrying', 'failed') }
}
const errorOf = ({ attempts, state }: Delivery) => [state, attempts[0].error_code, attempts[0].error_detail]

test('a message has the id of its event as the key, the headers of a webhook and its body', async (t) => {
  const kafka = await aFakeKafka(t)
  const { delivery, record } = await sentTo(kafka)
  assert.equal(delivery.state, 'delivered', delivery.attempts[0].error_detail)
  assert.equal(delivery.attempts[0].response_body, 'Stored in events, partition 0, offset 41')
  const bytes = kafka.produced[0]?.toString('latin1') ?? ''
  assert.equal(bytes.split(record).length - 1, 4, 'the key, two headers, and the body')
  for (const part of ['webhook-signature', 'traceparent', '"data":{"n":1}}']) assert.ok(bytes.includes(part), part)
})

test('the guard checks the addresses that the cluster announces, and Postroad does not connect to a private one', async (t) => {
  const kafka = await aFakeKafka(t, { leader: { host: '10.1.2.3', port: 9_092 } })
  const { delivery } = await sentTo(kafka)
  const [state, code] = errorOf(delivery)
  assert.deepEqual([state, code, kafka.produced.length], ['retrying', 'blocked_address', 0])
})

test('a delivery to a topic that does not exist names the topic, and is retried', async (t) => {
  const { delivery } = await sentTo(await aFakeKafka(t, { topicError: 3 }))
  assert.deepEqual(errorOf(delivery), [
    'retrying',
    'refused',
    'The cluster has no topic events. Create it, or correct config.topic.',
  ])
})

test('an event that is too large for the broker fails for good', async (t) => {
  const { delivery } = await sentTo(await aFakeKafka(t, { produceError: 10 }))
  assert.deepEqual(errorOf(delivery).slice(0, 2), ['failed', 'event_too_large'])
})

test('a user without the right to write to the topic is auth_failed', async (t) => {
  const { delivery } = await sentTo(await aFakeKafka(t, { produceError: 29 }))
  assert.deepEqual(errorOf(delivery).slice(0, 2), ['retrying', 'auth_failed'])
})

test('a delivery with too few in-sync replicas quotes the broker, and is retried', async (t) => {
  const { delivery } = await sentTo(await aFakeKafka(t, { produceError: 19 }))
  const [state, code, detail] = errorOf(delivery)
  assert.deepEqual([state, code], ['retrying', 'refused'])
  assert.match(detail, /^The broker refused the event \(NOT_ENOUGH_REPLICAS\)\. It says: /)
})

test('when the leader moves, the next attempt goes to the other broker', async (t) => {
  const [one, other] = [await aFakeKafka(t), await aFakeKafka(t)]
  const to = await aRoute(world, one.url, { config: CONFIG })
  await to.in(await to.send(), 'delivered')
  one.moveTo({ host: '127.0.0.1', port: other.port })
  const record = await to.send()
  advanceTo(world, await to.in(record, 'retrying'))
  const delivery = await to.in(record, 'delivered')
  assert.deepEqual([delivery.attempts.length, other.produced.length], [2, 1])
  assert.match(delivery.attempts[0].error_detail, /NOT_LEADER/)
})

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
/** A key of each of two partitions, as the Java clients choose them. */
const [LED, LEADERLESS] = [0, 1].map((partition) =>
  KEYS.find((key) => (murmur2(Buffer.from(key)) & 0x7f_ff_ff_ff) % 2 === partition),
)

test('while one partition has no leader, its events wait, and those of the others are delivered', async (t) => {
  const kafka = await aFakeKafka(t, { leaderless: true })
  const led = await sentTo(kafka, { config: { ...CONFIG, key: LED } })
  assert.equal(led.delivery.state, 'delivered', led.delivery.attempts[0].error_detail)
  const leaderless = await sentTo(kafka, { config: { ...CONFIG, key: LEADERLESS } })
  assert.deepEqual(errorOf(leaderless.delivery), [
    'retrying',
    'refused',
    'A partition of events currently has no leader.',
  ])
  assert.equal(kafka.produced.length, 1)
})

const PASSWORD = 'kafka-pass-4711'
const withUser = (mechanism: Mechanism, password = PASSWORD): object => ({
  config: { ...CONFIG, sasl: mechanism },
  auth: { kind: 'basic', username: 'app', password },
})

for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const) {
  test(`${mechanism}: the right password logs in, and a wrong one is auth_failed and is shown nowhere`, async (t) => {
    const kafka = await aFakeKafka(t, { user: { mechanism, name: 'app', password: PASSWORD } })
    const right = await sentTo(kafka, withUser(mechanism))
    assert.equal(right.delivery.state, 'delivered', right.delivery.attempts[0].error_detail)
    const wrong = await sentTo(kafka, withUser(mechanism, 'wrong-4712'))
    assert.deepEqual(errorOf(wrong.delivery).slice(0, 2), ['retrying', 'auth_failed'])
    assert.equal(JSON.stringify(wrong.delivery).includes('wrong-4712'), false)
    assert.equal(kafka.produced.length, 1)
  })
}

test('a mechanism that the broker does not have is auth_failed', async (t) => {
  const kafka = await aFakeKafka(t, { user: { mechanism: 'SCRAM-SHA-512', name: 'app', password: PASSWORD } })
  const { delivery } = await sentTo(kafka, withUser('SCRAM-SHA-256'))
  assert.deepEqual(errorOf(delivery).slice(0, 2), ['retrying', 'auth_failed'])
})

test('a broker that demands too much work for a login is refused, without that work', async (t) => {
  const iterations = 2_000_000_000
  const kafka = await aFakeKafka(t, {
    user: { mechanism: 'SCRAM-SHA-512', name: 'app', password: PASSWORD, iterations },
  })
  const { delivery } = await sentTo(kafka, withUser('SCRAM-SHA-512'))
  const [state, code, detail] = errorOf(delivery)
  assert.deepEqual([state, code], ['retrying', 'refused'])
  assert.match(detail, /^The broker demands 2000000000 iterations of SCRAM/)
})

test('a login that the broker answers incorrectly fails with its cause, and the delivery is retried', async (t) => {
  for (const [saysFirst, code] of [
    ['', 'refused'],
    ['nonsense', 'refused'],
    ['s=YQ==,i=4096', 'refused'],
    ['r=,s=YQ==,i=4096', 'auth_failed'],
  ] as const) {
    const user: KafkaUser = { mechanism: 'SCRAM-SHA-256', name: 'app', password: PASSWORD, saysFirst }
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { delivery } = await sentTo(await aFakeKafka(t, { user }), withUser('SCRAM-SHA-256'))
    assert.deepEqual(errorOf(delivery).slice(0, 2), ['retrying', code], saysFirst)
  }
})

test('with TLS the broker proves the name in the URL by an authority in tls.ca', async (t) => {
  const [ours, theirs] = [anAuthority(), anAuthority()]
  const right = await aFakeKafka(t, { pair: ours.sign('localhost') })
  const trusted = await sentTo(right, { tls: { ca: ours.cert } })
  assert.equal(trusted.delivery.state, 'delivered', trusted.delivery.attempts[0].error_detail)
  const unknown = await sentTo(right, { tls: { ca: theirs.cert } })
  assert.deepEqual(errorOf(unknown.delivery).slice(0, 2), ['retrying', 'tls_failed'])
  const named = await aFakeKafka(t, { pair: ours.sign('other', { host: 'other.example.com' }) })
  const other = await sentTo(named, { tls: { ca: ours.cert } })
  assert.deepEqual(errorOf(other.delivery), ['retrying', 'tls_failed', 'The certificate is for a different host name.'])
  assert.deepEqual([right.produced.length, named.produced.length], [1, 0])
})
