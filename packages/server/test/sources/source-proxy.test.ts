import assert from 'node:assert/strict'
import { beforeEach, test, type TestContext } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { createListeners, createSourcePolls } from '../../src/pipeline/sources/index.ts'
import { aName } from '../stage/fixtures.ts'
import { aForwardProxy, type ForwardProxy } from '../stage/forward-proxy.ts'
import { aSink, aWorld, eventually, type Answer, type Sink, type World } from '../stage/harness.ts'
import { dns, resolverSaying } from '../stage/outbound-door.ts'
import { aSocketServer } from '../stage/socket-server.ts'
import { asked, payloadsIn, sourceDeps } from '../stage/source-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Sources and WebSocket triggers behind the forward proxy that the environment names. Only the proxy reaches the hosts. */
let world: World
let api: Sink

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { env: { ROLES: 'web' }, loops: [] },
)
beforeEach(async (t) => {
  api = await aSink()
  api.answer({ status: 200, body: '[{"n":1}]' })
  ;(t as TestContext).after(() => api.stop())
})

type Own = { readonly port?: number; readonly login?: string }
async function aProxy(
  t: TestContext,
  { port = Number(new URL(api.url).port), ...more }: Own = {},
): Promise<ForwardProxy> {
  const proxy = await aForwardProxy({ port, ...more })
  t.after(() => proxy.stop())
  return proxy
}

/** A node of the same installation with this environment. Its name server knows one address. */
async function aNode(t: TestContext, env: Record<string, string>, address = '127.0.0.1'): Promise<World> {
  const resolver = resolverSaying(dns(address))
  const node = await aWorld({ beside: world, env: { ROLES: 'web', ...env }, resolver })
  t.after(() => node.stop())
  return node
}

async function polled(node: World, url: string): Promise<{ readonly source: Answer['body']; readonly rows: unknown }> {
  const dataset = aName('items').replaceAll(/\W/g, '_')
  const body = { name: aName('source'), dataset, settings: { kind: 'http_poll', url } }
  const made = (await asked(node, 'POST sources', body)).source
  await createSourcePolls(sourceDeps(node), aName('owner')).run()
  const { source } = await asked(node, `GET sources/${made.id}`)
  await asked(node, `DELETE sources/${made.id}`)
  return { source, rows: await payloadsIn(world, dataset) }
}

test('an HTTP source goes through HTTP_PROXY, which gets the checked address and the username and password of its URL', async (t) => {
  const proxy = await aProxy(t, { login: 'ada:pass' })
  const { rows } = await polled(await aNode(t, { HTTP_PROXY: proxy.url }), 'http://feed.example:8080/items')
  assert.deepEqual(rows, ['{"n":1}'])
  assert.deepEqual(proxy.asked, ['127.0.0.1:8080'])
  assert.equal(api.received[0]?.headers['host'], 'feed.example:8080')
})

test('NO_PROXY and loopback go directly, and a name in lower case goes before the one in upper case', async (t) => {
  const proxy = await aProxy(t)
  const { port } = new URL(api.url)
  const direct = await aNode(t, { HTTP_PROXY: proxy.url, NO_PROXY: 'example' })
  assert.deepEqual((await polled(direct, `http://feed.example:${port}/items`)).rows, ['{"n":1}'])
  assert.deepEqual((await polled(direct, api.url)).rows, ['{"n":1}'])
  assert.deepEqual(proxy.asked, [])
  const node = await aNode(t, { HTTP_PROXY: 'http://127.0.0.1:1', http_proxy: proxy.url })
  assert.deepEqual((await polled(node, 'http://feed.example/items')).rows, ['{"n":1}'])
  assert.deepEqual(proxy.asked, ['127.0.0.1:80'])
})

test('the address guard applies through the proxy: a forbidden address never reaches it', async (t) => {
  const proxy = await aProxy(t)
  const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url }
  for (const [address, url] of [
    ['10.0.0.1', 'https://feed.example/items'],
    ['169.254.169.254', 'https://feed.example/items'],
    ['1.1.1.1', 'https://user.example/items'],
  ] as const) {
    const { source } = await polled(await aNode(t, env, address), url)
    if (address === '1.1.1.1') assert.deepEqual(proxy.asked, ['1.1.1.1:443'], 'a public address passes')
    else assert.deepEqual([source.last_error.reason, proxy.asked], ['blocked_address', []], address)
  }
})

test('the error of a source names the variable of the proxy that failed', async (t) => {
  const proxy = await aProxy(t, { login: 'ada:right' })
  const wrong = await polled(
    await aNode(t, { HTTP_PROXY: proxy.url.replace('right', 'wrong') }),
    'http://feed.example/items',
  )
  assert.deepEqual(
    [wrong.source.last_error.reason, wrong.source.last_error.error],
    ['proxy_failed', 'The proxy in HTTP_PROXY refused the username and password (407).'],
  )
  const gone = await polled(await aNode(t, { HTTP_PROXY: 'http://127.0.0.1:1' }), 'http://feed.example/items')
  assert.equal(gone.source.last_error.error, 'The proxy in HTTP_PROXY refused the connection.')
})

test('a WebSocket trigger goes through HTTP_PROXY too', async (t) => {
  const feed = await aSocketServer()
  const proxy = await aProxy(t, { port: Number(new URL(feed.url).port) })
  const node = await aNode(t, { HTTP_PROXY: proxy.url })
  const listeners = createListeners(sourceDeps(node), aName('owner'))
  t.after(async () => {
    await listeners.stop()
    await feed.stop()
  })
  const body = { name: aName('trigger'), url: 'ws://feed.example/feed', dataset: 'frames', heartbeat: null }
  await asked(node, 'POST ws-triggers', body)
  await listeners.run()
  await eventually('the connection of a foreign server', async () => (feed.open.size === 1 ? true : undefined))
  feed.send('{"n":2}')
  await eventually('the message is stored', async () =>
    (await payloadsIn(world, 'frames')).length === 1 ? true : undefined,
  )
  assert.deepEqual([proxy.asked, feed.requests[0]?.headers.host], [['127.0.0.1:80'], 'feed.example'])
})

test('a proxy setting that names no HTTP proxy stops the start, and its value is not printed', () => {
  assert.throws(() => readConfig({ https_proxy: 'socks5://ada:hush@p:1' }), {
    message:
      'HTTPS_PROXY must be the URL of an HTTP proxy, such as http://proxy.example.com:3128, but it is something else.',
  })
})
