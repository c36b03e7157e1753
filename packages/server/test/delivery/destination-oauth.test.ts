import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, anIngestKey, post } from '../stage/fixtures.ts'
import { aSink, aWorld, type Answer, type Received, type Sink, type World } from '../stage/harness.ts'
import { aTokenServer, CLIENTS, type TokenServer } from '../stage/token-server.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Deliveries to a destination whose access tokens come from an OAuth 2 server. */
let world: World
let database: Database
let key: string
onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    key = (await anIngestKey(world)).key
  },
  { loops: [] },
)

let datasets = 0

/** A destination with a separate dataset. */
async function aRoute(url: string, members: object, at: World = world) {
  datasets += 1
  const dataset = `a${datasets}`
  const { destination } = await aDestination(at, { url, datasets: [dataset], ...members })
  const sendVia = async (ingestKey: string, count: number): Promise<readonly string[]> => {
    const answers = await Promise.all(
      Array.from({ length: count }, () => post(`${at.baseUrl}/v1/ingest/${ingestKey}/${dataset}`, '{"n":1}')),
    )
    return answers.map(({ body }) => body.records[0].id)
  }
  return {
    destination,
    id: destination.id as string,
    send: (count = 1) => sendVia(key, count),
    patch: (body: object): Promise<Answer> => at.admin('PATCH', `destinations/${destination.id}`, body),
    /** The only attempt of a delivery, once it has ended. */
    attemptOf: async (recordId: string): Promise<Answer['body']> => {
      await at.idle()
      const { deliveries } = (await at.admin('GET', `deliveries?record_id=${recordId}`)).body
      const [attempt] = (await at.admin('GET', `deliveries/${deliveries[0].id}`)).body.delivery.attempts
      assert.notEqual(attempt.outcome, null)
      return attempt
    },
  }
}

async function aTestSink(t: TestContext): Promise<Sink> {
  const sink = await aSink()
  t.after(() => sink.stop())
  return sink
}

const lastOf = ({ received }: Sink): Received => received.at(-1) ?? assert.fail('Nothing came.')

async function tokens(t: TestContext, lifeSeconds?: number): Promise<TokenServer> {
  const server = await aTokenServer(lifeSeconds)
  t.after(() => server.stop())
  return server
}

const oauth = ({ tokenUrl }: TokenServer, members: object = {}) => ({
  auth: {
    kind: 'oauth2_client_credentials',
    token_url: tokenUrl,
    client_id: CLIENTS.basic.id,
    client_secret: CLIENTS.basic.secret,
    scope: 'events',
    ...members,
  },
})
const tokenOf = ({ headers }: Received): string => headers.authorization?.replace('Bearer ', '') ?? ''

test('OAuth 2: many deliveries share one access token, which the server requested once', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t)]
  const route = await aRoute(sink.url, oauth(server))
  assert.deepEqual(route.destination.auth, {
    kind: 'oauth2_client_credentials',
    token_url: server.tokenUrl,
    client_id: CLIENTS.basic.id,
    client_auth: 'basic',
    scope: 'events',
    has_secret: true,
  })
  await route.send(20)
  const received = await sink.until(20)
  assert.deepEqual([new Set(received.map(tokenOf)).size, server.asked()], [1, 1])
  assert.deepEqual(await server.knows(tokenOf(lastOf(sink))), { scope: 'events' })
})

test('OAuth 2: a destination can have the id and the secret sent in the body', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t)]
  const route = await aRoute(
    sink.url,
    oauth(server, { client_id: CLIENTS.body.id, client_secret: CLIENTS.body.secret, client_auth: 'body' }),
  )
  await route.send()
  await sink.until(1)
  assert.ok(await server.knows(tokenOf(lastOf(sink))))
})

test('OAuth 2: the token is renewed before it expires, and not sooner', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t, 600)]
  const route = await aRoute(sink.url, oauth(server))
  const sent: string[] = []
  for (const wait of [0, 530_000, 20_000]) {
    world.clock.advance(wait)
    const [record = ''] = await route.send()
    // The attempt must settle before the clock moves on, or its lease would end.
    await route.attemptOf(record)
    sent.push(tokenOf(lastOf(sink)))
  }
  assert.deepEqual([sent[0] === sent[1], sent[1] === sent[2], server.asked()], [true, false, 2])
})

test('OAuth 2: after a 401 the token is renewed once, within the attempt; a destination that answers 401 to every token causes no more requests', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t)]
  const route = await aRoute(sink.url, oauth(server))
  const [settled = ''] = await route.send()
  await route.attemptOf(settled)
  const revoked = tokenOf(lastOf(sink))
  world.clock.advance(60_000)
  sink.answer((request) => ({ status: tokenOf(request) === revoked ? 401 : 200 }))
  const [record = ''] = await route.send()
  const attempt = await route.attemptOf(record)
  assert.deepEqual([attempt.outcome, attempt.number, server.asked(), sink.received.length], ['succeeded', 1, 2, 3])
  assert.equal(new Set(sink.received.slice(1).map(({ headers }) => headers['service-delivery-id'])).size, 1)
  sink.answer({ status: 401 })
  for (const again of await route.send(5))
    assert.deepEqual(
      [(await route.attemptOf(again)).error_code, (await route.attemptOf(again)).response_status],
      ['bad_status', 401],
    )
  assert.equal(server.asked(), 2)
})

test('OAuth 2: the sealed token survives a restart of the process; other settings end it', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t)]
  const route = await aRoute(sink.url, oauth(server))
  await route.send()
  await sink.until(1)
  const token = tokenOf(lastOf(sink))
  await world.idle()
  const [row] = await database.many<{ sealed: string }>(
    sql`select encode(access_token, 'escape') as sealed from destinations where url = ${sink.url} and access_token is not null`,
  )
  assert.ok(row !== undefined && !row.sealed.includes(token))
  // Both servers deliver to it by then, and only one owns the lane at a time.
  const second = await aWorld({ beside: world, now: world.clock.now() })
  t.after(() => second.stop())
  await world.admin('PATCH', `destinations/${route.id}`, { timeout_ms: 3_000 })
  await route.send()
  await sink.until(2)
  assert.deepEqual([tokenOf(lastOf(sink)), server.asked()], [token, 1])
  assert.equal((await route.patch(oauth(server, { scope: '' }))).status, 200)
  await route.send()
  await sink.until(3)
  assert.deepEqual([tokenOf(lastOf(sink)) === token, server.asked()], [false, 2])
})

test('OAuth 2: the attempt reports a refusal or an outage of the token endpoint, and no delivery is sent', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t)]
  const wrong = await aRoute(sink.url, oauth(server, { client_secret: 'not-the-secret' }))
  const [first = ''] = await wrong.send()
  const refused = await wrong.attemptOf(first)
  assert.deepEqual(
    [refused.error_code, refused.error_detail],
    ['auth_failed', 'There is no access token: the token endpoint returned 401 (invalid_client).'],
  )
  server.broken = true
  const down = await aRoute(sink.url, oauth(server))
  const [second = ''] = await down.send()
  assert.equal(
    (await down.attemptOf(second)).error_detail,
    'There is no access token: the token endpoint returned 503.',
  )
  const inside = await aRoute(sink.url, oauth(server, { token_url: 'https://no-such-host.invalid/token' }))
  const [third = ''] = await inside.send()
  assert.equal(
    (await inside.attemptOf(third)).error_detail,
    'There is no access token: the token endpoint could not be reached (dns_failed).',
  )
  assert.equal(sink.received.length, 0)
})
