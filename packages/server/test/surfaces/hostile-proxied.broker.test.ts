import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { post, recordOf, submissionOf, Wire } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { anNginx, noNginx, type Nginx } from '../stage/nginx.ts'
import { aRequest, HIDDEN, REFUSED, TAKEN, toEndpoint } from '../stage/smuggling-cases.ts'

/**
 * The same hostile requests behind a proxy that reuses its connections to the server. A smuggled request would be one
 * that the proxy never forwarded, or an answer that reaches the client of another request.
 */
const PROBE = 'GET /healthz HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n'

/** Cases beside those of the bare server: requests that look different to a proxy. */
const OF_PROXIES: Readonly<Record<string, string>> = {
  'a body of a GET that is a request': `GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: ${HIDDEN.length}\r\n\r\n`,
  'a Content-Length with an underscore': aRequest('1.1', ['Host: a', 'Content_Length: 0', 'Content-Length: 2'], '{}'),
  'a Transfer-Encoding with an underscore': aRequest(
    '1.1',
    ['Host: a', 'Transfer_Encoding: chunked', 'Content-Length: 2'],
    '{}',
  ),
  'a header of the proxy as a hop-by-hop one': aRequest(
    '1.1',
    ['Host: a', 'Connection: close, X-Proxied, Content-Length', 'Content-Length: 2'],
    '{}',
  ),
  'a custom header of the proxy': aRequest('1.1', ['Host: a', 'X-Proxied: forged', 'Content-Length: 2'], '{}'),
  'an upgrade to HTTP/2': aRequest(
    '1.1',
    ['Host: a', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk', 'Content-Length: 2'],
    '{}',
  ),
  'an upgrade to a WebSocket at an endpoint': aRequest(
    '1.1',
    [
      'Host: a',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Content-Length: 2',
    ],
    '{}',
  ),
  'a line end in the path': aRequest('1.1', ['Host: a', 'Content-Length: 2'], '{}').replace(
    ' HTTP',
    '/d%0d%0aX:%20y HTTP',
  ),
  'an early answer to a body that never ends': aRequest(
    '1.1',
    ['Host: a', 'Expect: 100-continue', 'Transfer-Encoding: chunked'],
    'A\r\n{"a":"1234\r\n',
  ),
}

for (const buffering of ['on', 'off'] as const) {
  describe(`behind nginx with request buffering ${buffering}`, { skip: noNginx }, () => {
    let world: World
    let nginx: Nginx
    let path: string
    let sent = 0

    before(async () => {
      world = await aWorld({ env: { LOG_LEVEL: 'silent', TRUST_PROXY: '127.0.0.1/32' }, loops: [] })
      path = new URL(world.endpoint).pathname
      nginx = await anNginx(world.baseUrl, { buffering })
    })
    after(async () => {
      await nginx.stop()
      await world.stop()
    })

    /** A good request gets its own answer. */
    async function inStep(): Promise<void> {
      sent += 1
      const body = `{"good":${sent}}`
      const { status, body: answer } = await post(nginx.url + path, body)
      assert.equal(status, 201)
      assert.equal((await recordOf(world, answer.records[0].id)).data_text, body)
    }

    for (const [name, text] of Object.entries({ ...REFUSED, ...TAKEN, ...OF_PROXIES })) {
      test(`${name}: the next client gets its own answer`, async () => {
        const wire = new Wire(nginx.url).send(toEndpoint(text + HIDDEN + PROBE, path))
        await wire.answer()
        await inStep()
        await wire.closed
        await inStep()
      })
    }

    test('a request that the bare server refuses is refused or corrected here, and a request that it accepts is accepted or refused', async () => {
      for (const [name, text] of Object.entries({ ...REFUSED, ...TAKEN })) {
        const wire = new Wire(nginx.url).send(toEndpoint(text, path))
        const answer = await wire.answer()
        wire.destroy()
        const status = answer?.status ?? 400
        if (status !== 201) {
          assert.ok(status >= 400 && status < 600 && status !== 500, `${name}: ${status}`)
          continue
        }
        const { headers, body } = await submissionOf(world, JSON.parse(answer?.body ?? '').id)
        assert.equal(headers['transfer-encoding'] === undefined || headers['content-length'] === undefined, true, name)
        assert.equal(body, '{}', name)
      }
    })

    test('the proxy forwarded every request that was stored, and none is stored twice', async () => {
      const proxied: string[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const { body }: { body: { submissions: { id: string }[]; next_cursor: string | null } } = (await world.admin(
          'GET',
          `submissions?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`,
        )) as never
        for (const { id } of body.submissions) proxied.push((await submissionOf(world, id)).headers['x-proxied'])
        cursor = body.next_cursor
      }
      assert.ok(proxied.length > 100)
      assert.equal(new Set(proxied).size, proxied.length)
      const passedOn = new Set(nginx.passedOn())
      assert.deepEqual(
        proxied.filter((id) => !passedOn.has(id)),
        [],
      )
    })
  })
}
