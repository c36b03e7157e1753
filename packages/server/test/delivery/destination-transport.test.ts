import assert from 'node:assert/strict'
import { createServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { test, type TestContext } from 'node:test'
import { Server as ProxyServer } from 'proxy-chain'
import { aDestination, anIngestKey, post } from '../stage/fixtures.ts'
import { aSink, type Answer, type Received, type Sink, type World } from '../stage/harness.ts'
import { anAuthority } from '../stage/tls-files.ts'
import { aTokenServer, CLIENTS, type TokenServer } from '../stage/token-server.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Deliveries by mutual TLS, with a custom authority, and through a forward proxy. */
let world: World
let key: string
onWorldStage(
  async (made) => {
    ;({ world } = made)
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

test('mutual TLS: the receiver sees the client certificate; without one, or with another one, the attempt reports that a certificate is required', async (t) => {
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
    [{ ca: ours.cert }, 'tls_failed', /^The host asks for a client certificate that it trusts\.$/],
    // Node servers close the connection without an alert when they do not trust the client certificate.
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
    'the stored key stays',
  )
  assert.ok(!JSON.stringify(renewed.body).includes('PRIVATE KEY'))
})

test('a custom authority is trusted for that destination, and for no other', async (t) => {
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

test('a forward proxy: deliveries go through it to the address that was checked, and never to a host name', async (t) => {
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

test('a forward proxy: the TLS connection goes through it to the destination, and calls of the token endpoint use the proxy too', async (t) => {
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

test('a forward proxy: the attempt reports the fault of the proxy, and nothing shows its password', async (t) => {
  const [sink, proxy] = [await aTestSink(t), await aProxy(t)]
  const closed = await aSink()
  await closed.stop()
  const cases = [
    [
      sink.url,
      { url: proxy.url, username: 'robot', password: 'wrong-proxy-secret' },
      'proxy_failed',
      /^The proxy refused the username and password \(407\)\.$/,
    ],
    [sink.url, { url: closed.url.slice(0, -1) }, 'proxy_failed', /^The proxy refused the connection\.$/],
    [
      closed.url,
      { url: proxy.url, ...ROBOT },
      'proxy_failed',
      /^The proxy closed the connection before it reached the destination\.$/,
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
