import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { aForwardProxy, type ForwardProxy } from '../../server/test/stage/forward-proxy.ts'
import { anAuthority } from '../../server/test/stage/tls-files.ts'
import { run } from './command-line.ts'
import { listening } from './listen-stage.ts'
import { aReceiver } from './receiver.ts'
import { onServer, refused } from './server-stage.ts'

/** The command line behind a forward proxy. Only the proxy reaches `hooks.example`. */
const stage = onServer()
const ELSEWHERE = 'http://hooks.example:4680'

async function aProxy(t: TestContext, login?: string): Promise<ForwardProxy> {
  const proxy = await aForwardProxy({
    port: Number(new URL(stage.baseUrl).port),
    ...(login === undefined ? {} : { login }),
  })
  t.after(() => proxy.stop())
  return proxy
}
const behind = (proxy: string, more: Record<string, string> = {}): Record<string, string> =>
  stage.remote({ POSTROAD_URL: ELSEWHERE, HTTP_PROXY: proxy, ...more })

test('commands reach the server through HTTP_PROXY, with the username and password of its URL', async (t) => {
  const proxy = await aProxy(t, 'ada:pass')
  const { code, stdout, stderr } = await run(['endpoints', 'list'], behind(proxy.url))
  assert.deepEqual([code, stderr, /First endpoint/.test(stdout)], [0, '', true])
  assert.ok(proxy.asked.length > 0 && proxy.asked.every((url) => url.startsWith(`${ELSEWHERE}/admin/api/`)))
  const lower = await run(['endpoints', 'list'], behind('http://127.0.0.1:1', { http_proxy: proxy.url }))
  assert.deepEqual([lower.code, lower.stderr], [0, ''], 'a name in lower case goes first')
})

test('loopback and NO_PROXY go directly', async () => {
  const gone = 'http://127.0.0.1:1'
  assert.equal((await run(['endpoints', 'list'], stage.remote({ HTTP_PROXY: gone, HTTPS_PROXY: gone }))).code, 0)
  const direct = await run(['endpoints', 'list'], behind(gone, { NO_PROXY: '.example' }))
  assert.match(direct.stderr, /^postroad: http:\/\/hooks\.example:4680 cannot be reached\. Start the server/)
})

test('a message names the proxy that did not carry the request, without its password', async (t) => {
  const proxy = await aProxy(t, 'ada:right')
  const { host } = new URL(proxy.url)
  for (const args of [
    ['endpoints', 'list'],
    ['send', `${ELSEWHERE}/a/b/c`],
    ['config', 'pull'],
    ['listen', '3000'],
  ])
    // oxlint-disable-next-line no-await-in-loop -- one command after the other
    refused(await run(args, behind('http://ada:hush@127.0.0.1:1')), {
      code: 1,
      stderr:
        /^postroad: http:\/\/hooks\.example:4680 cannot be reached through the proxy http:\/\/127\.0\.0\.1:1 \(HTTP_PROXY\)\. Check the proxy, or name the host in NO_PROXY to reach it directly\.\n$/,
    })
  const wrong = await run(['endpoints', 'list', '--json'], behind(`http://ada:wrong@${host}`))
  assert.deepEqual(JSON.parse(wrong.stderr), {
    error: `${ELSEWHERE} cannot be reached through the proxy http://${host} (HTTP_PROXY). The proxy does not accept the username and password. Write them in its URL.`,
    reason: 'unreachable',
  })
  const tunneled = await run(['endpoints', 'list'], {
    ...stage.remote({ POSTROAD_URL: 'https://hooks.example' }),
    https_proxy: `http://ada:wrong@${host}`,
  })
  assert.match(tunneled.stderr, /through the proxy \S+ \(https_proxy\)\. The proxy does not accept the username/)
  assert.equal(proxy.asked.at(-1), 'hooks.example:443', 'https goes through a tunnel to the name')
  refused(await run(['endpoints', 'list'], behind('socks5://127.0.0.1:1')), {
    code: 2,
    stderr: /^postroad: HTTP_PROXY must be the URL of an HTTP proxy/,
  })
})

test('listen follows the server through the proxy, and reaches a program on this machine without it', async (t) => {
  const proxy = await aProxy(t)
  const receiver = await aReceiver()
  t.after(() => receiver.stop())
  const listen = await (await listening(t, behind(proxy.url))).start(receiver.url, '--lines')
  assert.equal((await fetch(stage.endpoint, { method: 'POST', body: '{"n":1}' })).status, 201)
  await receiver.until(1)
  await listen.stop()
  assert.ok(proxy.asked.some((url) => url.includes('/stream?')))
  assert.ok(proxy.asked.every((url) => url.startsWith(ELSEWHERE)))
})

test('listen reaches a target that is not on this machine through the proxy', async (t) => {
  const receiver = await aReceiver()
  const proxy = await aForwardProxy({ port: receiver.port })
  t.after(async () => {
    proxy.stop()
    await receiver.stop()
  })
  const env = stage.remote({ HTTP_PROXY: proxy.url })
  const listen = await (await listening(t, env)).start('http://app.example:3000/hook', '--lines')
  assert.equal((await fetch(stage.endpoint, { method: 'POST', body: '{"n":1}' })).status, 201)
  await receiver.until(1)
  await listen.stop()
  assert.equal(receiver.received[0]?.headers.host, 'app.example:3000')
})

test('listen --skip-tls-verify accepts the certificate of a local program; without it the event waits, and the note names the option', async (t) => {
  const bodies: string[] = []
  const server = createServer(anAuthority().sign('local'), (request, response) => {
    request.on('data', (chunk: Buffer) => bodies.push(chunk.toString())).on('end', () => response.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const target = `https://localhost:${(server.address() as AddressInfo).port}/hook`
  const listens = await listening(t, stage.remote())
  const strict = await listens.start(target, '--lines', '--from-now')
  assert.equal((await fetch(stage.endpoint, { method: 'POST', body: '{"n":1}' })).status, 201)
  await strict.line(/certificate is not trusted \(.+\)\. Add --skip-tls-verify/)
  assert.deepEqual(bodies, [])
  await strict.kill()
  const lax = await listens.start(target, '--lines', '--skip-tls-verify')
  await lax.line(/ 200 /)
  await lax.stop()
  assert.deepEqual(bodies, ['{"n":1}'])
})
