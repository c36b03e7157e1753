import assert from 'node:assert/strict'
import { createServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { test, type TestContext } from 'node:test'
import { Server as ProxyServer } from 'proxy-chain'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, anIngestKey, post } from '../stage/fixtures.ts'
import { aSink, aWorld, eventually, type Answer, type Received, type Sink, type World } from '../stage/harness.ts'
import { anAuthority } from '../stage/tls-files.ts'
import { aTokenServer, CLIENTS, type TokenServer } from '../stage/token-server.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database
let key: string
onWorldStage(async (made) => {
  ;({ world, database } = made)
  key = (await anIngestKey(world)).key
})

let datasets = 0

/** A destination with a dataset of its own. */
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
    attemptOf: (recordId: string): Promise<Answer['body']> =>
      eventually(async () => {
        const { deliveries } = (await at.admin('GET', `deliveries?record_id=${recordId}`)).body
        const { attempts } = (await at.admin('GET', `deliveries/${deliveries[0].id}`)).body.delivery
        return attempts[0]?.outcome === null ? undefined : attempts[0]
      }, 2_000),
  }
}

async function aTestSink(t: TestContext): Promise<Sink> {
  const sink = await aSink()
  t.after(() => sink.stop())
  return sink
}

const lastOf = ({ received }: Sink): Received => received.at(-1) ?? assert.fail('Nothing came.')

// What is sent, and what is never shown

const KINDS = [
  {
    auth: { kind: 'basic', username: 'robot', password: 'pass-word: ü-3f9' },
    header: 'authorization',
    value: `Basic ${Buffer.from('robot:pass-word: ü-3f9').toString('base64')}`,
    secret: 'pass-word: ü-3f9',
    shown: { kind: 'basic', username: 'robot', has_secret: true },
  },
  {
    auth: { kind: 'bearer', token: 'token-71c2' },
    header: 'authorization',
    value: 'Bearer token-71c2',
    secret: 'token-71c2',
    shown: { kind: 'bearer', has_secret: true },
  },
  {
    auth: { kind: 'header', header: 'X-Api-Key', value: 'value 44aa' },
    header: 'x-api-key',
    value: 'value 44aa',
    secret: 'value 44aa',
    shown: { kind: 'header', header: 'x-api-key', has_secret: true },
  },
] as const

for (const { auth, header, value, secret, shown } of KINDS) {
  test(`${auth.kind}: every delivery carries it, and its secret is shown by no answer, audit row or table`, async (t) => {
    const sink = await aTestSink(t)
    const route = await aRoute(sink.url, { auth })
    await route.send()
    await sink.until(1)
    assert.equal(lastOf(sink).headers[header], value)
    const answers = [
      route.destination,
      (await world.admin('GET', `destinations/${route.id}`)).body,
      (await route.patch({ auth, timeout_ms: 2_000 })).body,
      (await world.admin('GET', 'destinations')).body,
      (await world.admin('GET', 'audit')).body,
    ]
    assert.deepEqual(
      answers.map((answer) => JSON.stringify(answer).includes(secret)),
      answers.map(() => false),
    )
    assert.deepEqual(route.destination.auth, shown)
    const rows = await database.many<{ text: string }>(
      sql`select destinations::text || coalesce(encode(auth, 'escape'), '') as text from destinations`,
    )
    assert.ok(rows.every(({ text }) => !text.includes(secret)))
  })
}

test('a secret that is left out of a change stays; another kind needs its own; none ends it', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(sink.url, { auth: { kind: 'basic', username: 'one', password: 'held' } })
  assert.equal((await route.patch({ auth: { kind: 'basic', username: 'two' } })).status, 200)
  const other = await route.patch({ auth: { kind: 'bearer' } })
  assert.deepEqual(
    [other.status, other.body.error],
    [400, 'auth.token: is needed to turn the kind bearer on; send it.'],
  )
  await route.send()
  await sink.until(1)
  assert.equal(lastOf(sink).headers.authorization, `Basic ${Buffer.from('two:held').toString('base64')}`)
  assert.deepEqual((await route.patch({ auth: { kind: 'none' } })).body.destination.auth, { kind: 'none' })
  await route.send()
  await sink.until(2)
  assert.equal(lastOf(sink).headers.authorization, undefined)
})

test('a held secret goes nowhere else: another origin, proxy or authority needs it again', async (t) => {
  const [sink, elsewhere] = [await aTestSink(t), await aTestSink(t)]
  const route = await aRoute(sink.url, { auth: { kind: 'bearer', token: 'held-token' } })
  const authority = anAuthority()
  for (const change of [
    { url: elsewhere.url },
    { proxy: { url: elsewhere.url } },
    { url: 'https://localhost/', tls: { ca: authority.cert } },
  ]) {
    const answer = await route.patch(change)
    assert.deepEqual(
      [answer.status, answer.body.error.startsWith('auth: send its secret again')],
      [400, true],
      JSON.stringify(change),
    )
  }
  assert.equal((await route.patch({ url: `${sink.url}other/path` })).status, 200, 'the same origin')
  assert.equal((await route.patch({ url: elsewhere.url, auth: { kind: 'bearer', token: 'new-token' } })).status, 200)
  await route.send()
  await elsewhere.until(1)
  assert.equal(lastOf(elsewhere).headers.authorization, 'Bearer new-token')
})

test('what cannot work is refused when it is saved, with the member that is wrong', async () => {
  const url = 'https://example.com/'
  const pair = anAuthority()
  const other = anAuthority()
  const cases: readonly (readonly [members: object, error: RegExp])[] = [
    [
      { auth: { kind: 'digest' } },
      /^auth\.kind: The kind is one of none, basic, bearer, header, oauth2_client_credentials, payload\.$/,
    ],
    [{ auth: { kind: 'basic', username: 'a:b', password: 'x' } }, /^auth\.username: /],
    [{ auth: { kind: 'basic', username: 'a' } }, /^auth\.password: is needed/],
    [{ auth: { kind: 'bearer', token: 'a b' } }, /^auth\.token: /],
    [
      { auth: { kind: 'header', header: 'Service-Signature', value: 'x' } },
      /^auth\.header: The header service-signature is set by Postroad/,
    ],
    [
      { auth: { kind: 'bearer', token: 'x' }, headers: { Authorization: 'y' } },
      /^headers: authorization is set by auth/,
    ],
    [
      {
        auth: {
          kind: 'oauth2_client_credentials',
          token_url: 'https://10.0.0.1/t',
          client_id: 'c',
          client_secret: 's',
        },
      },
      /^auth\.token_url: The address is not on the public internet/,
    ],
    [{ proxy: { url: 'http://10.0.0.1:3128' } }, /^proxy\.url: The address is not on the public internet/],
    [{ proxy: { url: 'http://a:b@example.com:3128' } }, /^proxy\.url: must not contain/],
    [{ proxy: { url: 'socks5://example.com:1080' } }, /^proxy\.url: must be http/],
    [{ proxy: { url: 'http://example.com:3128', username: 'u' } }, /^proxy\.password: is needed/],
    [{ tls: { ca: pair.cert }, url: 'http://127.0.0.1/' }, /^tls: needs an https url/],
    [{ tls: {} }, /^tls: needs a certificate, a ca, or both/],
    [{ tls: { certificate: pair.cert } }, /^tls\.private_key: is needed/],
    [
      { tls: { certificate: pair.cert, private_key: other.key } },
      /^tls\.private_key: is not the key of this certificate/,
    ],
    [{ tls: { certificate: 'no pem', private_key: pair.key } }, /^tls\.certificate: must contain a certificate in PEM/],
    [{ tls: { certificate: pair.cert, private_key: 'no pem' } }, /^tls\.private_key: must be a private key in PEM/],
    [
      { tls: { ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' } },
      /^tls\.ca: contains a certificate that cannot be read/,
    ],
  ]
  for (const [members, error] of cases) {
    const { status, body } = await world.admin('POST', 'destinations', { name: 'never made', url, ...members })
    assert.equal(status, 400, JSON.stringify(members))
    assert.match(body.error, error)
  }
})

// OAuth 2

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

test('OAuth 2: many deliveries share one access token, which was asked for once', async (t) => {
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

test('OAuth 2: the id and the secret may be sent in the body', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t)]
  const route = await aRoute(
    sink.url,
    oauth(server, { client_id: CLIENTS.body.id, client_secret: CLIENTS.body.secret, client_auth: 'body' }),
  )
  await route.send()
  await sink.until(1)
  assert.ok(await server.knows(tokenOf(lastOf(sink))))
})

test('OAuth 2: the token is renewed before it ends, and not sooner', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t, 600)]
  const route = await aRoute(sink.url, oauth(server))
  const sent: string[] = []
  for (const wait of [0, 530_000, 20_000]) {
    world.clock.advance(wait)
    const [record = ''] = await route.send()
    // Settled before time goes on, or its lease would end meanwhile.
    await route.attemptOf(record)
    sent.push(tokenOf(lastOf(sink)))
  }
  assert.deepEqual([sent[0] === sent[1], sent[1] === sent[2], server.asked()], [true, false, 2])
})

test('OAuth 2: after a 401 it is renewed once, within the attempt; a destination that answers 401 to every token asks for no more', async (t) => {
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

test('OAuth 2: the token outlives the process, sealed; other settings end it', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t)]
  const route = await aRoute(sink.url, oauth(server))
  await route.send()
  await sink.until(1)
  const token = tokenOf(lastOf(sink))
  const [row] = await eventually(async () => {
    const rows = await database.many<{ sealed: string }>(
      sql`select encode(access_token, 'escape') as sealed from destinations where url = ${sink.url} and access_token is not null`,
    )
    return rows.length === 0 ? undefined : rows
  })
  assert.ok(row !== undefined && !row.sealed.includes(token))
  // Both deliver to it by then, and the lane is one's at a time.
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

test('OAuth 2: what the token endpoint refuses, and that it cannot be reached, is said at the attempt; nothing is sent then', async (t) => {
  const [sink, server] = [await aTestSink(t), await tokens(t)]
  const wrong = await aRoute(sink.url, oauth(server, { client_secret: 'not-the-secret' }))
  const [first = ''] = await wrong.send()
  const refused = await wrong.attemptOf(first)
  assert.deepEqual(
    [refused.error_code, refused.error_detail],
    ['auth_failed', 'There is no access token: the token endpoint answered 401 (invalid_client).'],
  )
  server.broken = true
  const down = await aRoute(sink.url, oauth(server))
  const [second = ''] = await down.send()
  assert.equal(
    (await down.attemptOf(second)).error_detail,
    'There is no access token: the token endpoint answered 503.',
  )
  const inside = await aRoute(sink.url, oauth(server, { token_url: 'https://no-such-host.invalid/token' }))
  const [third = ''] = await inside.send()
  assert.equal(
    (await inside.attemptOf(third)).error_detail,
    'There is no access token: the token endpoint could not be reached (dns_failed).',
  )
  assert.equal(sink.received.length, 0)
})

// TLS

async function aTlsReceiver(
  t: TestContext,
  options: object,
): Promise<{ readonly url: string; readonly callers: string[] }> {
  const callers: string[] = []
  const server: TlsServer = createServer(options, (request, response) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an https server has TLS sockets
    callers.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN?.toString() ?? 'nobody')
    request.resume().on('end', () => response.end('ok'))
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `https://localhost:${(server.address() as AddressInfo).port}/`, callers }
}

test('mutual TLS: the receiver meets the client certificate; without one, or with another’s, the attempt says what is asked for', async (t) => {
  const [ours, theirs] = [anAuthority(), anAuthority()]
  const [client, stranger] = [ours.sign('client of ours'), theirs.sign('somebody')]
  const receiver = await aTlsReceiver(t, {
    ...ours.sign('localhost'),
    ca: ours.cert,
    requestCert: true,
    rejectUnauthorized: true,
  })
  const tls = { certificate: client.cert, private_key: client.key, ca: ours.cert }
  const route = await aRoute(receiver.url, { tls })
  const { certificate, has_private_key, ca } = route.destination.tls
  assert.deepEqual(
    [certificate.subject, certificate.issuer, has_private_key, ca[0].subject],
    ['CN=client of ours', 'CN=Test Authority', true, 'CN=Test Authority'],
  )
  assert.match(certificate.expires_at, /^\d{4}-.*Z$/)
  const [first = ''] = await route.send()
  assert.equal((await route.attemptOf(first)).outcome, 'succeeded')
  assert.deepEqual(receiver.callers, ['client of ours'])
  for (const [other, code, detail] of [
    [{ ca: ours.cert }, 'tls_failed', /^The destination asks for a client certificate that it trusts\.$/],
    // Node's servers hang up without a word on one that they do not trust.
    [{ ...tls, certificate: stranger.cert, private_key: stranger.key }, /^(connection_reset|tls_failed)$/, /\.$/],
  ] as const) {
    assert.equal((await route.patch({ tls: other })).status, 200)
    const [record = ''] = await route.send()
    const attempt = await route.attemptOf(record)
    assert.match(attempt.error_code, new RegExp(code))
    assert.match(attempt.error_detail, detail)
  }
  assert.equal(receiver.callers.length, 1)
  const renewed = await route.patch({ tls })
  assert.equal(
    (await route.patch({ tls: { certificate: client.cert, ca: ours.cert } })).body.destination.tls.has_private_key,
    renewed.body.destination.tls.has_private_key,
    'the held key stays',
  )
  assert.ok(!JSON.stringify(renewed.body).includes('PRIVATE KEY'))
})

test('an authority of one’s own is trusted for that destination, and for no other', async (t) => {
  const ours = anAuthority()
  const receiver = await aTlsReceiver(t, ours.sign('localhost'))
  const trusting = await aRoute(receiver.url, { tls: { ca: ours.cert } })
  const [first = ''] = await trusting.send()
  assert.equal((await trusting.attemptOf(first)).outcome, 'succeeded')
  const plain = await aRoute(receiver.url, {})
  const [second = ''] = await plain.send()
  assert.equal((await plain.attemptOf(second)).error_code, 'tls_failed')
})

// Proxy

async function aProxy(t: TestContext): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const server = new ProxyServer({
    port: 0,
    host: '127.0.0.1',
    prepareRequestFunction: ({ hostname, port, username, password }) => {
      asked.push(`${hostname}:${port}`)
      return { requestAuthentication: username !== 'robot' || password !== 'proxy-secret-9d1' }
    },
  })
  await server.listen()
  t.after(() => server.close(true))
  return { url: `http://127.0.0.1:${server.port}`, asked }
}

const ROBOT = { username: 'robot', password: 'proxy-secret-9d1' }

test('a forward proxy: deliveries go through it, to the address that was checked, never to a name', async (t) => {
  const [sink, proxy] = [await aTestSink(t), await aProxy(t)]
  const { port } = new URL(sink.url)
  const route = await aRoute(`http://localhost:${port}/`, { proxy: { url: proxy.url, ...ROBOT } })
  assert.deepEqual(route.destination.proxy, { url: proxy.url, username: 'robot', has_password: true })
  await route.send()
  await sink.until(1)
  assert.deepEqual(
    [proxy.asked, lastOf(sink).headers.host, lastOf(sink).headers['proxy-authorization']],
    [[`127.0.0.1:${port}`], `localhost:${port}`, undefined],
  )
})

test('a forward proxy: TLS to the destination is its own, and the token endpoint is called through the proxy too', async (t) => {
  const [proxy, server, ours] = [await aProxy(t), await tokens(t), anAuthority()]
  const receiver = await aTlsReceiver(t, ours.sign('localhost'))
  const route = await aRoute(receiver.url, {
    ...oauth(server),
    tls: { ca: ours.cert },
    proxy: { url: proxy.url, ...ROBOT },
  })
  const [record = ''] = await route.send()
  assert.equal((await route.attemptOf(record)).outcome, 'succeeded')
  assert.deepEqual(proxy.asked, [
    `127.0.0.1:${new URL(server.tokenUrl).port}`,
    `127.0.0.1:${new URL(receiver.url).port}`,
  ])
})

test('a forward proxy: what is wrong with it is said at the attempt, and its password nowhere', async (t) => {
  const [sink, proxy] = [await aTestSink(t), await aProxy(t)]
  const closed = await aSink()
  await closed.stop()
  const cases = [
    [
      sink.url,
      { url: proxy.url, username: 'robot', password: 'wrong-proxy-secret' },
      'proxy_failed',
      /^The proxy refused the user name and password \(407\)\.$/,
    ],
    [sink.url, { url: closed.url.slice(0, -1) }, 'proxy_failed', /^The proxy refused the connection\.$/],
    [
      closed.url,
      { url: proxy.url, ...ROBOT },
      'proxy_failed',
      /^The proxy hung up before there was a connection to the destination\.$/,
    ],
  ] as const
  for (const [url, through, code, detail] of cases) {
    const route = await aRoute(url, { proxy: through })
    const [record = ''] = await route.send()
    const attempt = await route.attemptOf(record)
    assert.equal(attempt.error_code, code)
    assert.match(attempt.error_detail, detail)
  }
  assert.equal(sink.received.length, 0)
  const audit = JSON.stringify((await world.admin('GET', 'audit')).body)
  assert.ok(!audit.includes('proxy-secret'))
})
