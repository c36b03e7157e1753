import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { aRoute, type Route } from '../stage/delivery-routes.ts'
import { aName, anIngestKey } from '../stage/fixtures.ts'
import { eventually, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The settings that all kinds of destinations share, and the effect of the guard and the clock on connections. */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

/** Creates a destination without events, because the objects of a batch would wait for the clock of the test. */
const create = (members: object): Promise<Answer> =>
  world.admin('POST', 'destinations', { name: aName('destination'), datasets: ['Nothing'], ...members })
const REDIS = { kind: 'redis_stream', stream: 'events' }
const AWS = { kind: 'aws', access_key_id: 'key', secret_access_key: 'secret' }
const S3 = { kind: 's3', bucket: 'events', region: 'eu-central-1' }

test('a destination without a config has the kind http, and shows it', async () => {
  const { body } = await create({ url: 'https://example.com/' })
  assert.deepEqual([body.destination.kind, body.destination.config], ['http', { kind: 'http' }])
  assert.equal(body.destination.max_in_flight, 10)
})

test('a config is shown with its defaults, and a destination that writes batches has a larger max_in_flight', async () => {
  const { body, status } = await create({ url: 'https://s3.eu-central-1.amazonaws.com', config: S3, auth: AWS })
  assert.equal(status, 201, JSON.stringify(body))
  const { kind, config, max_in_flight, auth } = body.destination
  assert.equal(kind, 's3')
  assert.deepEqual(config, { ...S3, prefix: 'events/', format: 'ndjson', linger_ms: 2_000, path_style: true })
  assert.equal(max_in_flight, 250)
  assert.deepEqual(auth, { kind: 'aws', access_key_id: 'key', has_secret: true })
})

const REFUSED = [
  [
    'another protocol',
    { url: 'https://example.com', config: REDIS },
    'invalid_url',
    /starts with redis:\/\/ or rediss:\/\//,
  ],
  ['a password in the URL', { url: 'rediss://app:pw@example.com', config: REDIS }, 'invalid_url', /send them in auth/],
  ['a private address', { url: 'rediss://10.0.0.1:6379', config: REDIS }, 'invalid_url', /not on the public internet/],
  [
    'plain text to a public address',
    { url: 'redis://8.8.8.8:6379', config: REDIS },
    'invalid_url',
    /An unencrypted connection is not allowed/,
  ],
  [
    'headers that would not be sent',
    { url: 'rediss://example.com', config: REDIS, headers: { 'X-A': 'b' } },
    'invalid_request',
    /redis_stream has no headers/,
  ],
  [
    'a proxy that would not be used',
    { url: 'rediss://example.com', config: REDIS, proxy: { url: 'https://proxy.example.com' } },
    'invalid_request',
    /redis_stream does not use HTTP/,
  ],
  [
    'credentials of another kind',
    { url: 'rediss://example.com', config: REDIS, auth: AWS },
    'invalid_request',
    /accepts none, basic, not aws/,
  ],
  [
    'credentials that HTTP does not have',
    { url: 'https://example.com', auth: AWS },
    'invalid_request',
    /kind http accepts/,
  ],
  [
    'a database that is not named',
    { url: 'postgres://example.com', config: { kind: 'postgres', table: 't' } },
    'invalid_url',
    /must name the database/,
  ],
  [
    'a table with a quote',
    { url: 'postgres://example.com/d', config: { kind: 'postgres', table: 't"; drop table x' } },
    'invalid_request',
    /config\.table/,
  ],
  [
    'a wildcard in a subject',
    { url: 'tls://example.com', config: { kind: 'nats', subject: 'a.>' } },
    'invalid_request',
    /config\.subject/,
  ],
  [
    'plain text to a public broker',
    { url: 'kafka://8.8.8.8:9092', config: { kind: 'kafka', topic: 'events' } },
    'invalid_url',
    /An unencrypted connection is not allowed/,
  ],
  [
    'a queue that is not named',
    { url: 'https://sqs.eu-central-1.amazonaws.com', config: { kind: 'sqs', region: 'eu-central-1' } },
    'invalid_url',
    /must be the URL of the queue/,
  ],
  [
    'a topic that is no ARN',
    { url: 'https://sns.eu-central-1.amazonaws.com', config: { kind: 'sns', topic_arn: 'events' } },
    'invalid_request',
    /config\.topic_arn must be the ARN/,
  ],
  [
    'headers of a queue',
    {
      url: 'https://sqs.eu-central-1.amazonaws.com/1/events',
      config: { kind: 'sqs', region: 'eu-central-1' },
      headers: { 'X-A': 'b' },
    },
    'invalid_request',
    /sqs has no headers/,
  ],
  [
    'an unknown kind',
    { url: 'https://example.com', config: { kind: 'fax' } },
    'invalid_request',
    /The kind is one of http, postgres/,
  ],
  [
    'a setting of another kind',
    { url: 'https://example.com', config: { kind: 'http', stream: 'x' } },
    'invalid_request',
    /config/,
  ],
] as const

for (const [what, members, reason, text] of REFUSED) {
  test(`${what} is refused when the destination is created`, async () => {
    const { status, body } = await create(members)
    assert.deepEqual([status, body.reason], [400, reason], JSON.stringify(body))
    assert.match(body.error, text)
  })
}

test('the kind of a destination never changes, and its settings do', async () => {
  const { body } = await create({ url: 'rediss://example.com', config: REDIS })
  const patch = (members: object) => world.admin('PATCH', `destinations/${body.destination.id}`, members)
  const other = await patch({ config: { kind: 'http' } })
  assert.deepEqual([other.status, other.body.reason], [400, 'invalid_request'])
  assert.match(other.body.error, /^config\.kind: this destination has the kind redis_stream/)
  const same = await patch({ config: { ...REDIS, stream: 'others', length_max: 1_000 } })
  assert.deepEqual([same.body.destination.config.stream, same.body.destination.config.length_max], ['others', 1_000])
})

test('a stored password is not sent to another host, and not in plain text', async () => {
  const auth = { kind: 'basic', username: 'app', password: 'p' }
  const redis = (await create({ url: 'rediss://example.com', config: REDIS, auth })).body.destination
  const moved = await world.admin('PATCH', `destinations/${redis.id}`, { url: 'rediss://example.org' })
  assert.equal(moved.status, 400)
  assert.match(moved.body.error, /^auth: send its secret again/)
  const table = { kind: 'postgres', table: 'events' }
  const url = 'postgres://127.0.0.1:5432/d'
  const database = (await create({ url, config: table, auth })).body.destination
  const bare = await world.admin('PATCH', `destinations/${database.id}`, { config: { ...table, encryption: 'off' } })
  assert.equal(bare.status, 400)
  assert.match(bare.body.error, /^auth: send its secret again/)
})

type Silent = { readonly port: number; readonly sockets: Set<Socket> }

/** A server that accepts connections and sends nothing. */
async function aSilentServer(t: TestContext): Promise<Silent> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.resume()
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

const SILENT: Readonly<Record<string, (port: number) => { url: string; config: object }>> = {
  postgres: (port) => ({
    url: `postgres://127.0.0.1:${port}/d`,
    config: { kind: 'postgres', table: 't', encryption: 'off' },
  }),
  redis_stream: (port) => ({ url: `redis://127.0.0.1:${port}`, config: REDIS }),
  amqp: (port) => ({ url: `amqp://127.0.0.1:${port}`, config: { kind: 'amqp', routing_key: 'q' } }),
  nats: (port) => ({ url: `nats://127.0.0.1:${port}`, config: { kind: 'nats', subject: 's' } }),
  kafka: (port) => ({ url: `kafka://127.0.0.1:${port}`, config: { kind: 'kafka', topic: 'events' } }),
  smtp: (port) => ({
    url: `smtp://127.0.0.1:${port}`,
    config: { kind: 'smtp', from: 'a@example.com', to: ['b@example.com'], encryption: 'off' },
  }),
}

for (const [kind, at] of Object.entries(SILENT)) {
  test(`${kind}: an attempt at a server that sends nothing ends at its timeout, and leaves no connection open`, async (t) => {
    const { port, sockets } = await aSilentServer(t)
    const { url, config } = at(port)
    const to: Route = await aRoute(world, url, { config, timeout_ms: 1_000 })
    const record = await to.send()
    const { attempts } = await to.in(record, 'retrying')
    assert.equal(attempts[0].error_code, 'timeout', attempts[0].error_detail)
    await to.remove()
    await eventually('the other server sees no connection', async () => (sockets.size === 0 ? true : undefined))
  })
}

test('an event of a postroad destination is stored once by the other server, which answers a replay with 200', async () => {
  const { key } = await anIngestKey(world)
  const url = `${world.baseUrl}/v1/ingest/${key}/copies`
  const to = await aRoute(world, url, { config: { kind: 'postroad' } })
  const record = await to.send('{"n":1}')
  const first = await to.in(record, 'delivered')
  assert.equal(first.attempts[0].response_status, 201)
  await to.replay(first)
  const again = await to.in(record, 'delivered')
  assert.equal(again.attempts[1].response_status, 200)
  const { body } = await world.admin('GET', `attempts/${again.attempts[1].id}`)
  assert.equal(body.attempt.request.headers['idempotency-key'], record)
})

test('an event of a postroad destination that is too large for the other server fails for good', async () => {
  const { key } = await anIngestKey(world)
  const to = await aRoute(world, `${world.baseUrl}/v1/ingest/${key}/copies`, { config: { kind: 'postroad' } })
  // The envelope around it exceeds the limit that the payload alone does not reach.
  const record = await to.send(JSON.stringify('a'.repeat(LIMITS.ingestBodyBytesDefault - 100)))
  const { attempts } = await to.in(record, 'failed', 'retrying')
  assert.deepEqual([attempts.length, attempts[0].error_code], [1, 'event_too_large'], attempts[0].error_detail)
})
