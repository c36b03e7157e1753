import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import {
  aDoor,
  anHttpServer,
  aSink,
  dns,
  listening,
  OK,
  resolverSaying,
  trickle,
  until,
} from '../stage/outbound-door.ts'
import { RESERVED_REQUEST_HEADERS, validateHeader } from '../../src/platform/outbound-http.ts'
import type { Resolver } from '../../src/platform/resolver.ts'

test('a request arrives unchanged, and its answer is returned whole', async (t) => {
  const { port, seen } = await aSink(t, (socket) => {
    socket.end('HTTP/1.1 201 Created\r\nX-A: 1\r\nx-a: 2\r\n__proto__: x\r\nConnection: close\r\n\r\nhello')
  })
  const { ask } = aDoor(t, { userAgent: 'Postroad/1' })
  const headers = { 'content-type': 'application/json', 'x-k': 'v' }
  const said = await ask(`http://127.0.0.1:${port}/hook?a=b#c`, { headers, body: '{"a":1}' })
  assert.equal(said.kind, 'response')
  assert.deepEqual([said.status, said.body, said.truncated], [201, 'hello', false])
  assert.deepEqual([said.headers?.['x-a'], said.headers?.['connection']], ['1, 2', 'close'])
  assert.ok((said.durationMs ?? -1) >= 0)
  assert.match(seen.text, /^POST \/hook\?a=b HTTP\/1\.1\r\n/)
  assert.match(seen.text, new RegExp(`host: 127\\.0\\.0\\.1:${port}\\r\\n`))
  assert.match(seen.text, /user-agent: Postroad\/1\r\ncontent-type: application\/json\r\nx-k: v\r\n/)
  assert.match(seen.text, /content-length: 7\r\n\r\n\{"a":1\}$/)
})

/** The port of a server on ::1, where nothing listens on 127.0.0.1: another test can have the same number there. */
async function onlyOnSix(t: TestContext): Promise<number> {
  const server = createHttpServer((_request, response) => response.end('six'))
  const port = await listening(t, server, '::1')
  const four = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    four.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => four.close(() => resolve(true)))
  })
  return isFree ? port : onlyOnSix(t)
}

test('a body of bytes, IPv6 and the name localhost work', async (t) => {
  const six = await onlyOnSix(t)
  const { ask } = aDoor(t)
  assert.equal((await ask(`http://[::1]:${six}/`, { body: new Uint8Array([123, 125]) })).body, 'six')
  assert.equal((await ask(`http://localhost:${six}/`)).body, 'six', 'refused on 127.0.0.1, tried on ::1')
  assert.equal((await ask(`http://LOCALHOST.:${six}/`, { method: 'GET', body: '' })).body, 'six')
})

test('one connection serves successive requests', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.write(OK))
  const { ask, stats } = aDoor(t)
  for (let n = 0; n < 5; n++) assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
  assert.deepEqual([seen.requests, seen.sockets], [5, 1])
  assert.deepEqual(stats(), { lanes: 1, connections: 1, idle: 1, inFlight: 0 })
})

test('a redirect is an answer, and is not followed', async (t) => {
  const { port: elsewhere, seen } = await aSink(t, (socket) => socket.end(OK))
  const { ask } = aDoor(t)
  for (const status of [300, 301, 302, 303, 307, 308]) {
    for (const location of [`http://127.0.0.1:${elsewhere}/`, 'file:///etc/passwd', '//127.0.0.1:22/']) {
      const port = await anHttpServer(t, (_request, response) => response.writeHead(status, { location }).end())
      const said = await ask(`http://127.0.0.1:${port}/`)
      assert.deepEqual([said.status, said.headers?.['location']], [status, location])
    }
  }
  assert.equal(seen.sockets, 0)
})

test('proxy settings of the environment are ignored', async (t) => {
  const { port: proxy, seen } = await aSink(t, (socket) => socket.end(OK))
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
  for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy}`
  t.after(() => names.forEach((name) => delete process.env[name]))
  const { port } = await aSink(t, (socket) => socket.end(OK))
  assert.equal((await aDoor(t).ask(`http://127.0.0.1:${port}/`)).body, 'ok')
  assert.equal(seen.sockets, 0)
})

test('no spelling of loopback is connected to unless it is allowed', async (t) => {
  const canary = createHttpServer((_request, response) => response.end('canary'))
  let hits = 0
  canary.on('connection', () => (hits += 1))
  const port = await listening(t, canary, '::')
  const hosts = [
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '017700000001',
    '127.0.0.1.',
    '１２７.0.0.1',
    '127.9.9.9',
    '0',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'localhost',
    'localhost.',
    'x.localhost',
  ]
  const shut = aDoor(t, { allow: ['10.0.0.0/8'] })
  for (const scheme of ['http', 'https']) {
    for (const host of hosts) {
      const said = await shut.ask(`${scheme}://${host}:${port}/`)
      assert.equal(said.code, 'blocked_address', `${scheme} ${host}`)
      assert.doesNotMatch(said.detail ?? '', /127|::/)
    }
  }
  assert.equal(hits, 0)
  const open = aDoor(t)
  for (const host of ['127.1', '0x7f.1', '[::1]', 'localhost', '[::ffff:127.0.0.1]']) {
    assert.equal((await open.ask(`http://${host}:${port}/`)).body, 'canary', host)
  }
  assert.ok(hits > 0, 'the canary works')
})

test('a name with an allowed and a forbidden address is blocked before any connection', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.end(OK))
  for (const answer of [dns('127.0.0.2', '127.0.0.1'), dns('127.0.0.1', '127.0.0.2'), dns('127.0.0.2', '::1')]) {
    const { ask } = aDoor(t, { allow: ['127.0.0.2/32'], resolver: resolverSaying(answer) })
    assert.equal((await ask(`http://rebind.example:${port}/`)).code, 'blocked_address')
  }
  assert.equal(seen.sockets, 0)
})

test('rebinding: each connection goes to the address that was checked for it', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.end(OK.replace('Content', 'Connection: close\r\nContent')))
  const resolver = resolverSaying(dns('127.0.0.1'), dns('127.0.0.2'))
  const { ask } = aDoor(t, { allow: ['127.0.0.1/32'], resolver })
  assert.equal(
    (await ask(`http://rebind.example:${port}/`)).status,
    200,
    'one query: there is no second answer to connect to',
  )
  assert.equal((await ask(`http://rebind.example:${port}/`)).code, 'blocked_address')
  assert.equal(seen.sockets, 1)
})

test('a URL that cannot be called fails immediately with a clear cause', async (t) => {
  const { ask, stats } = aDoor(t)
  for (const url of ['', 'nonsense', 'ftp://127.0.0.1/', 'http://u@127.0.0.1/', 'http://127.0.0.1:0/', 'http://a../']) {
    assert.equal((await ask(url)).code, 'invalid_url', url)
  }
  assert.equal((await ask('http://127.0.0.1:9/', { headers: { 'bad name': 'x' } })).code, 'invalid_url')
  assert.equal((await ask('http://127.0.0.1:9/', { headers: { good: 'a\r\nb: c' } })).code, 'invalid_url')
  await until(() => stats().lanes === 0)
})

test('a name without an address is dns_failed, and a closed port is connection_refused', async (t) => {
  const { ask } = aDoor(t, { resolver: resolverSaying({ kind: 'failure', detail: 'The host name has no address.' }) })
  const said = await ask('https://gone.example/')
  assert.deepEqual([said.code, said.detail], ['dns_failed', 'The host name has no address.'])
  const rejecting: Resolver = { resolve: () => Promise.reject(new Error('bug')), close: () => undefined }
  assert.equal((await aDoor(t, { resolver: rejecting }).ask('https://gone.example/')).kind, 'failure')
  const closed = createServer()
  const port = await listening(t, closed)
  await new Promise((resolve) => closed.close(resolve))
  // Destinations, AI providers and receivers of forwarders share the sentence, so it names none of them.
  const refused = await ask(`http://127.0.0.1:${port}/`)
  assert.deepEqual([refused.code, refused.detail], ['connection_refused', 'The host refused the connection.'])
})

const BREAKS: Readonly<Record<string, (socket: Socket) => void>> = {
  'reset before the head': (socket) => socket.resetAndDestroy(),
  'end before the head': (socket) => socket.end(),
  'reset inside the head': (socket) => socket.write('HTTP/1.1 200 O', () => socket.resetAndDestroy()),
  'end inside the head': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
  'not HTTP': (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  binary: (socket) => socket.end(Buffer.from([0, 1, 2, 255, 254, 13, 10, 13, 10])),
  'HTTP without a head': (socket) => socket.end('<html>hello</html>'),
  'two lengths': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!'),
  'a negative length': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok'),
  'NUL in a header': (socket) => socket.end('HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n'),
  'a switch': (socket) => socket.end('HTTP/1.1 101 Switch\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
}

test('an answer that breaks off or is not HTTP is connection_reset', async (t) => {
  const { ask, stats } = aDoor(t)
  for (const [how, act] of Object.entries(BREAKS)) {
    const { port } = await aSink(t, act)
    const said = await ask(`http://127.0.0.1:${port}/secret-path`)
    assert.equal(said.code, 'connection_reset', `${how}: ${JSON.stringify(said)}`)
    assert.match(said.detail ?? '', /^[A-Z][^\n]+\.$/)
    assert.doesNotMatch(said.detail ?? '', /secret|127/)
  }
  await until(() => stats().lanes === 0)
})

const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'
const CUT: Readonly<Record<string, (socket: Socket, start: string) => void>> = {
  'reset inside the body': (socket, start) =>
    socket.write(`${start}Content-Length: 100\r\n\r\nhalf`, () => socket.resetAndDestroy()),
  'end inside the body': (socket, start) => socket.end(`${start}Content-Length: 100\r\n\r\nhalf`),
  'end inside a chunk': (socket, start) => socket.end(`${start}${CHUNKED}ff\r\n`),
  'a bad chunk': (socket, start) => socket.end(`${start}${CHUNKED}zz\r\n`),
  'hangs inside the body': (socket, start) => socket.write(`${start}Content-Length: 100\r\n\r\nhalf`),
  'trickles the body': (socket, start) => trickle(socket, `${start}Content-Length: 60000\r\n\r\nhalf`, 'a'),
  'trickles chunks': (socket, start) => trickle(socket, `${start}${CHUNKED}`, '1\r\na\r\n'),
}

test('a complete head is the answer, whatever happens to the body', async (t) => {
  const { ask, stats } = aDoor(t)
  await Promise.all(
    Object.entries(CUT).flatMap(([how, act]) =>
      [200, 302, 410, 503].map(async (status) => {
        const { port } = await aSink(t, (socket) => act(socket, `HTTP/1.1 ${status} Said\r\nRetry-After: 7\r\n`))
        const said = await ask(`http://127.0.0.1:${port}/`, { timeoutMs: /hangs|trickles/.test(how) ? 3_000 : 30_000 })
        assert.deepEqual(
          [said.kind, said.status, said.headers?.['retry-after'], said.truncated],
          ['response', status, '7', true],
          how,
        )
        // A reset can overtake bytes that were sent before it.
        if (!how.startsWith('reset')) assert.match(said.body ?? '', /^half/, how)
      }),
    ),
  )
  await until(() => stats().lanes === 0)
  assert.deepEqual(stats(), { lanes: 0, connections: 0, idle: 0, inFlight: 0 }, 'such a connection is not used again')
})

test('when more bytes arrive than announced, the answer counts and the connection is not used again', async (t) => {
  const smuggled = 'HTTP/1.1 500 Smuggled\r\nContent-Length: 0\r\n\r\n'
  const { port, seen } = await aSink(t, (socket) => socket.write(OK + smuggled))
  const { ask } = aDoor(t)
  const answers = [await ask(`http://127.0.0.1:${port}/`), await ask(`http://127.0.0.1:${port}/`)]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  )
  assert.equal(seen.sockets, 2)
})

test('an idle connection that closes upon the next request gives connection_reset, and the request after it works', async (t) => {
  const { port, seen } = await aSink(t, (socket, nth) => (nth === 0 ? socket.write(OK) : socket.resetAndDestroy()))
  const { ask } = aDoor(t)
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).code, 'connection_reset')
  assert.equal(seen.requests, 2, 'it was not sent a second time')
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
})

test('a connection that the peer closed while idle is not used: the next request gets a fresh one', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.write(OK, () => setTimeout(() => socket.end(), 20)))
  const { ask, stats } = aDoor(t)
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
  await until(() => stats().lanes === 0)
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
  assert.equal(seen.sockets, 2)
})

test('Postroad honors the Keep-Alive hint of the peer: with a very short one the connection is not reused', async (t) => {
  const { port } = await aSink(t, (socket) => socket.write(OK.replace('Content', 'Keep-Alive: timeout=1\r\nContent')))
  const { ask, stats } = aDoor(t)
  for (let n = 0; n < 50; n++) assert.equal((await ask(`http://127.0.0.1:${port}/`, { lane: `lane ${n}` })).status, 200)
  await until(() => stats().connections === 0)
  assert.equal(stats().lanes, 0, 'fifty lanes asked once leave nothing behind')
})

test('a destination cannot set headers that Postroad or the protocol sets, in upper or lower case', () => {
  const prefixed = ['proxy-authorization', 'proxy-connection', 'service-signature', 'service-hops', 'webhook-id']
  const reserved = [...RESERVED_REQUEST_HEADERS, ...prefixed]
  const upper = reserved.map((name) => name.toUpperCase())
  assert.deepEqual(
    [...reserved, ...upper].filter((name) => validateHeader(name, 'x') === undefined),
    [],
  )
  for (const name of ['authorization', 'X-Api-Key', 'accept', 'cookie', 'serviceable', 'webhook']) {
    assert.equal(validateHeader(name, 'x'), undefined, name)
  }
})

test('a header name is a token and a value is printable Latin', () => {
  for (const name of [
    '',
    ' ',
    'a b',
    'a:b',
    'a\r\nb',
    'é',
    'a\0',
    '(a)',
    'host ',
    'ｈost',
    'coo\u212aie',
    'a,b',
    '"a"',
  ]) {
    assert.notEqual(validateHeader(name, 'x'), undefined, JSON.stringify(name))
  }
  for (const value of ['a\rb', 'a\nb', 'a\r\nx: y', 'a\0b', '\u0100', '嘊', '\u007f', '\u001b[0m', '\ud800']) {
    assert.notEqual(validateHeader('x-a', value), undefined, JSON.stringify(value))
  }
  for (const value of ['', 'Bearer abc', 'a\tb', 'café']) assert.equal(validateHeader('x-a', value), undefined)
})
