import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { createOutboundHttp, RESERVED_REQUEST_HEADERS, transportOf, whyHeaderRefused } from './outbound-http.ts'
import type { OutboundFailure, OutboundOptions, OutboundRequest, OutboundResponse } from './outbound-http.ts'
import type { Resolution, Resolver } from './resolver.ts'

const LOOPBACK = ['127.0.0.0/8', '::1/128']
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

type Said = { readonly kind: string } & Partial<Omit<OutboundResponse, 'kind'> & Omit<OutboundFailure, 'kind'>>

/** A door that is shut when the test ends, asked with short deadlines; answers are read as one loose shape. */
function aDoor(t: TestContext, options: Partial<OutboundOptions> = {}) {
  const door = createOutboundHttp({ allow: LOOPBACK, ...options })
  t.after(() => door.close())
  const ask = async (url: string, more: Partial<OutboundRequest> = {}): Promise<Said> =>
    await door.request({ url, headers: {}, body: '{}', timeoutMs: 5_000, ...more })
  return { ask, stats: door.stats, close: door.close }
}

async function listening(t: TestContext, server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- listening on TCP
  return (server.address() as AddressInfo).port
}

/** A server below HTTP: `onRequest` gets the socket when a request has arrived, and how many came before on it. */
async function aSink(t: TestContext, onRequest: (socket: Socket, nth: number) => void) {
  const seen = { sockets: 0, requests: 0, text: '' }
  const server = createServer((socket) => {
    seen.sockets += 1
    let nth = 0
    socket.on('data', (chunk) => {
      seen.text += chunk.toString()
      if (!chunk.toString().includes('\r\n\r\n')) return
      seen.requests += 1
      onRequest(socket, nth++)
    })
  })
  return { port: await listening(t, server), seen }
}

async function anHttpServer(t: TestContext, listener: RequestListener): Promise<number> {
  return await listening(t, createHttpServer(listener))
}

function resolverSaying(...resolutions: Resolution[]): Resolver {
  let asked = 0
  return {
    resolve: async () => resolutions[asked++ % resolutions.length] ?? { kind: 'failure', detail: 'Nothing.' },
    close: () => undefined,
  }
}

const dns = (...addresses: string[]): Resolution => ({ kind: 'addresses', source: 'dns', addresses })

async function until(met: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!met()) {
    assert.ok(performance.now() < deadline, 'never came about')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('a request arrives as it was given and its answer comes back whole', async (t) => {
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

test('a body of bytes and IPv6 work, and so does the name localhost', async (t) => {
  const six = await listening(t, createHttpServer((_request, response) => response.end('six')), '::1')
  const { ask } = aDoor(t)
  assert.equal((await ask(`http://[::1]:${six}/`, { body: new Uint8Array([123, 125]) })).body, 'six')
  assert.equal((await ask(`http://localhost:${six}/`)).body, 'six', 'refused on 127.0.0.1, tried on ::1')
  assert.equal((await ask(`http://LOCALHOST.:${six}/`, { method: 'GET', body: '' })).body, 'six')
})

test('one connection serves one request after the other', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.write(OK))
  const { ask, stats } = aDoor(t)
  for (let n = 0; n < 5; n++) assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
  assert.deepEqual([seen.requests, seen.sockets], [5, 1])
  assert.deepEqual(stats(), { lanes: 1, connections: 1, idle: 1, inFlight: 0 })
})

test('a redirect is an answer, and nobody goes there', async (t) => {
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

test('proxy settings of the environment are not looked at', async (t) => {
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
    '127.0.0.1', '127.1', '0x7f.1', '2130706433', '017700000001', '127.0.0.1.', '１２７.0.0.1', '127.9.9.9', '0',
    '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', 'localhost', 'localhost.', 'x.localhost',
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
  assert.ok(hits > 0, 'the canary can sing')
})

test('a name that gives a good and a bad address is blocked before any connection', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.end(OK))
  for (const answer of [dns('127.0.0.2', '127.0.0.1'), dns('127.0.0.1', '127.0.0.2'), dns('127.0.0.2', '::1')]) {
    const { ask } = aDoor(t, { allow: ['127.0.0.2/32'], resolver: resolverSaying(answer) })
    assert.equal((await ask(`http://rebind.example:${port}/`)).code, 'blocked_address')
  }
  assert.equal(seen.sockets, 0)
})

test('rebinding: each connection is to the address that was checked for it', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.end(OK.replace('Content', 'Connection: close\r\nContent')))
  const resolver = resolverSaying(dns('127.0.0.1'), dns('127.0.0.2'))
  const { ask } = aDoor(t, { allow: ['127.0.0.1/32'], resolver })
  assert.equal((await ask(`http://rebind.example:${port}/`)).status, 200, 'asked once: no second answer to connect to')
  assert.equal((await ask(`http://rebind.example:${port}/`)).code, 'blocked_address')
  assert.equal(seen.sockets, 1)
})

test('a URL that cannot be called is said so at once', async (t) => {
  const { ask, stats } = aDoor(t)
  for (const url of ['', 'nonsense', 'ftp://127.0.0.1/', 'http://u@127.0.0.1/', 'http://127.0.0.1:0/', 'http://a../']) {
    assert.equal((await ask(url)).code, 'invalid_url', url)
  }
  assert.equal((await ask('http://127.0.0.1:9/', { headers: { 'bad name': 'x' } })).code, 'invalid_url')
  assert.equal((await ask('http://127.0.0.1:9/', { headers: { good: 'a\r\nb: c' } })).code, 'invalid_url')
  await until(() => stats().lanes === 0)
})

test('a name without an address is dns_failed, a closed port connection_refused', async (t) => {
  const { ask } = aDoor(t, { resolver: resolverSaying({ kind: 'failure', detail: 'The host name has no address.' }) })
  const said = await ask('https://gone.example/')
  assert.deepEqual([said.code, said.detail], ['dns_failed', 'The host name has no address.'])
  const rejecting: Resolver = { resolve: () => Promise.reject(new Error('bug')), close: () => undefined }
  assert.equal((await aDoor(t, { resolver: rejecting }).ask('https://gone.example/')).kind, 'failure')
  const closed = createServer()
  const port = await listening(t, closed)
  await new Promise((resolve) => closed.close(resolve))
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).code, 'connection_refused')
})

const BREAKS: Readonly<Record<string, (socket: Socket) => void>> = {
  'reset before the head': (socket) => socket.resetAndDestroy(),
  'end before the head': (socket) => socket.end(),
  'reset inside the head': (socket) => socket.write('HTTP/1.1 200 O', () => socket.resetAndDestroy()),
  'end inside the head': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
  'not HTTP': (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  'binary': (socket) => socket.end(Buffer.from([0, 1, 2, 255, 254, 13, 10, 13, 10])),
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
  'reset inside the body': (socket, start) => socket.write(`${start}Content-Length: 100\r\n\r\nhalf`, () => socket.resetAndDestroy()),
  'end inside the body': (socket, start) => socket.end(`${start}Content-Length: 100\r\n\r\nhalf`),
  'end inside a chunk': (socket, start) => socket.end(`${start}${CHUNKED}ff\r\n`),
  'a bad chunk': (socket, start) => socket.end(`${start}${CHUNKED}zz\r\n`),
  'hangs inside the body': (socket, start) => socket.write(`${start}Content-Length: 100\r\n\r\nhalf`),
  'trickles the body': (socket, start) => trickle(socket, `${start}Content-Length: 60000\r\n\r\nhalf`, 'a'),
  'trickles chunks': (socket, start) => trickle(socket, `${start}${CHUNKED}`, '1\r\na\r\n'),
}

test('once the head is complete it is the answer, whatever becomes of the body', async (t) => {
  const { ask, stats } = aDoor(t)
  await Promise.all(Object.entries(CUT).flatMap(([how, act]) => [200, 302, 410, 503].map(async (status) => {
    const { port } = await aSink(t, (socket) => act(socket, `HTTP/1.1 ${status} Said\r\nRetry-After: 7\r\n`))
    const said = await ask(`http://127.0.0.1:${port}/`, { timeoutMs: /hangs|trickles/.test(how) ? 3_000 : 30_000 })
    assert.deepEqual([said.kind, said.status, said.headers?.['retry-after'], said.truncated], ['response', status, '7', true], how)
    // A reset may overtake what was sent before it.
    if (!how.startsWith('reset')) assert.match(said.body ?? '', /^half/, how)
  })))
  await until(() => stats().lanes === 0)
  assert.deepEqual(stats(), { lanes: 0, connections: 0, idle: 0, inFlight: 0 }, 'such a connection is not used again')
})

test('more bytes than announced: the answer counts, the connection is not used again', async (t) => {
  const smuggled = 'HTTP/1.1 500 Smuggled\r\nContent-Length: 0\r\n\r\n'
  const { port, seen } = await aSink(t, (socket) => socket.write(OK + smuggled))
  const { ask } = aDoor(t)
  const answers = [await ask(`http://127.0.0.1:${port}/`), await ask(`http://127.0.0.1:${port}/`)]
  assert.deepEqual(answers.map(({ status }) => status), [200, 200])
  assert.equal(seen.sockets, 2)
})

test('a kept connection closed upon our next request is connection_reset, and the request after works', async (t) => {
  const { port, seen } = await aSink(t, (socket, nth) => (nth === 0 ? socket.write(OK) : socket.resetAndDestroy()))
  const { ask } = aDoor(t)
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).code, 'connection_reset')
  assert.equal(seen.requests, 2, 'it was not sent a second time')
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
})

test('a connection the peer closed while idle is not used: the next request has a fresh one', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.write(OK, () => setTimeout(() => socket.end(), 20)))
  const { ask, stats } = aDoor(t)
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
  await until(() => stats().lanes === 0)
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200)
  assert.equal(seen.sockets, 2)
})

test('the peer’s Keep-Alive hint is honoured: too short a one means the connection is not kept', async (t) => {
  const { port } = await aSink(t, (socket) => socket.write(OK.replace('Content', 'Keep-Alive: timeout=1\r\nContent')))
  const { ask, stats } = aDoor(t)
  for (let n = 0; n < 50; n++) assert.equal((await ask(`http://127.0.0.1:${port}/`, { lane: `lane ${n}` })).status, 200)
  await until(() => stats().connections === 0)
  assert.equal(stats().lanes, 0, 'fifty lanes asked once leave nothing behind')
})

const SLOW: Readonly<Record<string, (socket: Socket) => void>> = {
  'never answers': () => undefined,
  'trickles the head': (socket) => trickle(socket, 'HTTP/1.1 200 OK\r\nX: ', 'a'),
  'trickles interim answers': (socket) => trickle(socket, '', 'HTTP/1.1 103 Early\r\n\r\n'),
  'never ends the status line': (socket) => trickle(socket, 'HTTP/1.1 200 ', 'O'),
}

function trickle(socket: Socket, head: string, drop: string): void {
  if (head !== '') socket.write(head)
  const timer = setInterval(() => socket.write(drop), 100)
  socket.on('close', () => clearInterval(timer))
}

test('whatever a slow destination does, the attempt ends at its total timeout and its socket is closed', async (t) => {
  const { ask, stats } = aDoor(t)
  await Promise.all(Object.entries(SLOW).map(async ([how, act]) => {
    let closed = false
    const { port } = await aSink(t, (socket) => {
      socket.on('close', () => (closed = true))
      act(socket)
    })
    const said = await ask(`http://127.0.0.1:${port}/`, { timeoutMs: 1_000 })
    assert.equal(said.code, 'timeout', how)
    assert.ok((said.durationMs ?? 0) >= 1_000 && (said.durationMs ?? 0) <= 1_500, `${how}: ${said.durationMs} ms`)
    await until(() => closed)
  }))
  assert.deepEqual(stats(), { lanes: 0, connections: 0, idle: 0, inFlight: 0 })
})

test('a peer that never finishes TLS ends after connectMs, or at the total timeout when that is sooner', async (t) => {
  let closed = 0
  const server = createServer((socket) => socket.resume().on('close', () => (closed += 1)))
  const port = await listening(t, server)
  const early = aDoor(t, { connectMs: 300 }).ask(`https://127.0.0.1:${port}/`)
  const late = aDoor(t).ask(`https://127.0.0.1:${port}/`, { timeoutMs: 600 })
  const said = await Promise.all([early, late])
  assert.deepEqual(said.map(({ code }) => code), ['timeout', 'timeout'])
  for (const { durationMs } of said) assert.ok((durationMs ?? 0) < 1_600, `${durationMs} ms`)
  await until(() => closed === 2)
})

test('a request called off ends at once, before or after it was sent', async (t) => {
  const { port } = await aSink(t, () => undefined)
  const { ask, stats } = aDoor(t)
  const caller = new AbortController()
  const said = ask(`http://127.0.0.1:${port}/`, { signal: caller.signal })
  await until(() => stats().connections === 1)
  caller.abort()
  assert.equal((await said).code, 'timeout')
  assert.equal((await ask(`http://127.0.0.1:${port}/`, { signal: caller.signal })).code, 'timeout')
  await until(() => stats().lanes === 0)
})

test('after close everything under way and everything later is a failure', async (t) => {
  const { port } = await aSink(t, () => undefined)
  const { ask, stats, close } = aDoor(t)
  const under = Array.from({ length: 20 }, () => ask(`http://127.0.0.1:${port}/`, { maxInFlight: 2 }))
  await until(() => stats().connections === 2)
  await close()
  for (const said of await Promise.all(under)) assert.equal(said.kind, 'failure')
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).kind, 'failure')
  assert.deepEqual(stats(), { lanes: 0, connections: 0, idle: 0, inFlight: 0 })
})

test('of a body 16 KiB are kept; what is longer is truncated and its status counts', async (t) => {
  const { ask } = aDoor(t)
  const sizes = [[16_384, false], [16_385, true], [65_536, true], [65_537, true], [5_000_000, true]] as const
  for (const [bytes, truncated] of sizes) {
    const port = await anHttpServer(t, (_request, response) => response.end('x'.repeat(bytes)))
    const said = await ask(`http://127.0.0.1:${port}/`)
    assert.deepEqual([said.status, said.truncated, said.body?.length], [200, truncated, Math.min(bytes, 16_384)])
  }
})

test('a body without end costs the sender its connection and us no memory', async (t) => {
  const { ask, stats } = aDoor(t)
  const chunk = Buffer.alloc(1_048_576, 'x')
  const sent: number[] = []
  const { port } = await aSink(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n')
    const pour = (): void => void (socket.destroyed || socket.write(chunk, (error) => (error ? undefined : pour())))
    socket.on('close', () => sent.push(socket.bytesWritten))
    pour()
  })
  const rssBefore = process.memoryUsage().rss
  for (let n = 0; n < 30; n++) {
    const said = await ask(`http://127.0.0.1:${port}/`)
    assert.deepEqual([said.status, said.truncated, said.body?.length], [200, true, 16_384])
  }
  await until(() => sent.length === 30)
  assert.ok(Math.max(...sent) < 32 * 1_048_576, `${Math.max(...sent)} bytes went out`)
  assert.ok(process.memoryUsage().rss - rssBefore < 150 * 1_048_576)
  await until(() => stats().lanes === 0)
})

test('a body in the smallest pieces is put together', async (t) => {
  const { port } = await aSink(t, (socket) => {
    const chunks = `${'1\r\na\r\n'.repeat(10_000)}2\r\nbc\r\n0\r\n\r\n`
    socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`)
  })
  assert.equal((await aDoor(t).ask(`http://127.0.0.1:${port}/`)).body, `${'a'.repeat(10_000)}bc`)
})

test('a body is text whatever it was: bad bytes and NUL read U+FFFD, half a character is left out', async (t) => {
  const bodies = [Buffer.from('a\0b'), Buffer.from([0x61, 0xff, 0x62]), Buffer.from(`${'x'.repeat(16_383)}é`)]
  const port = await anHttpServer(t, (request, response) => response.end(bodies[Number(request.url?.slice(1))]))
  const { ask } = aDoor(t)
  const said = await Promise.all([0, 1, 2].map((nth) => ask(`http://127.0.0.1:${port}/${nth}`)))
  assert.deepEqual(said.map(({ body }) => body), ['a\ufffdb', 'a\ufffdb', 'x'.repeat(16_383)])
})

const FLOODS: Readonly<Record<string, string>> = {
  'one long header': `X: ${'a'.repeat(70_000)}\r\n`,
  'many headers': 'X-Header: value\r\n'.repeat(10_000),
  'interim answers': '\r\nHTTP/1.1 103 Early\r\n'.repeat(10_000),
}

test('headers and interim answers without end are response_too_large', async (t) => {
  const { ask } = aDoor(t)
  for (const [how, flood] of Object.entries(FLOODS)) {
    const { port } = await aSink(t, (socket) => {
      socket.write(`HTTP/1.1 ${how === 'interim answers' ? '103 Early' : '200 OK'}\r\n`)
      const pour = (): void => void (socket.destroyed || socket.write(flood, (error) => (error ? undefined : pour())))
      pour()
    })
    assert.equal((await ask(`http://127.0.0.1:${port}/`)).code, 'response_too_large', how)
  }
})

test('an early hint does no harm, and of many small headers a hundred are kept', async (t) => {
  const headers = Array.from({ length: 500 }, (_value, nth) => `h${nth}: ${nth}\r\n`).join('')
  const early = 'HTTP/1.1 103 Early\r\nLink: x\r\n\r\n'
  const { port } = await aSink(t, (socket) => socket.write(early + OK.replace('Content', `${headers}Content`)))
  const said = await aDoor(t).ask(`http://127.0.0.1:${port}/`)
  assert.deepEqual([said.status, said.body, Object.keys(said.headers ?? {}).length], [200, 'ok', 100])
})

test('never more than maxInFlight requests and sockets to one origin; the rest waits its turn', async (t) => {
  let now = 0
  let most = 0
  const { port, seen } = await aSink(t, (socket) => {
    most = Math.max(most, ++now)
    setTimeout(() => {
      now -= 1
      socket.write(OK)
    }, 5)
  })
  const { ask, stats } = aDoor(t)
  const said = await Promise.all(Array.from({ length: 40 }, () => ask(`http://127.0.0.1:${port}/`, { maxInFlight: 3 })))
  assert.deepEqual(new Set(said.map(({ status }) => status)), new Set([200]))
  assert.deepEqual([most, seen.sockets, stats().connections], [3, 3, 3])
})

test('a request that waited too long for a connection is a timeout and takes no one’s place', async (t) => {
  const { port, seen } = await aSink(t, (socket) => setTimeout(() => socket.write(OK), 900))
  const { ask, stats } = aDoor(t)
  const first = ask(`http://127.0.0.1:${port}/`, { maxInFlight: 1 })
  const second = ask(`http://127.0.0.1:${port}/`, { maxInFlight: 1, timeoutMs: 300 })
  assert.match((await second).detail ?? '', /free in time/)
  assert.equal((await first).status, 200)
  assert.deepEqual([seen.requests, stats().inFlight], [1, 0])
})

test('a lane of its own has connections of its own: a slow neighbour at the same origin delays nobody', async (t) => {
  const held: Socket[] = []
  const { port } = await aSink(t, (socket) => (held.length === 0 ? held.push(socket) : socket.write(OK)))
  const { ask, stats } = aDoor(t)
  const slow = ask(`http://127.0.0.1:${port}/`, { maxInFlight: 1, lane: 'slow' })
  await until(() => held.length === 1)
  const other = await ask(`http://127.0.0.1:${port}/`, { maxInFlight: 1, lane: 'other', timeoutMs: 1_000 })
  assert.deepEqual([other.status, stats().lanes, stats().inFlight], [200, 2, 1])
  held[0]?.write(OK)
  assert.equal((await slow).status, 200)
})

test('idle connections are bounded over all lanes: the longest idle makes room', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.write(OK))
  const { ask, stats } = aDoor(t, { idleConnectionsMax: 3 })
  for (let n = 0; n < 20; n++) assert.equal((await ask(`http://127.0.0.1:${port}/`, { lane: `${n}` })).status, 200)
  assert.deepEqual(stats(), { lanes: 3, connections: 3, idle: 3, inFlight: 0 })
  for (const lane of ['17', '18', '19']) await ask(`http://127.0.0.1:${port}/`, { lane })
  assert.equal(seen.sockets, 20, 'the youngest three were kept')
})

test('a thousand requests to a destination that always breaks off leave nothing behind', async (t) => {
  const { port } = await aSink(t, (socket) => socket.resetAndDestroy())
  const { ask, stats } = aDoor(t)
  const asked = Array.from({ length: 1_000 }, () => ask(`http://127.0.0.1:${port}/`, { maxInFlight: 50 }))
  const said = await Promise.all(asked)
  assert.deepEqual(new Set(said.map(({ code }) => code)), new Set(['connection_reset']))
  await until(() => stats().connections === 0)
  assert.deepEqual(stats(), { lanes: 0, connections: 0, idle: 0, inFlight: 0 })
})

let folder = ''
const certificates: Record<string, { readonly key: string; readonly cert: string }> = {}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'postroad-tls-'))
  const openssl = (...words: string[]): void =>
    void execFileSync('openssl', words.join(' ').split(' '), { cwd: folder, stdio: 'pipe' })
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  const forHooks = '-addext subjectAltName=DNS:hooks.example'
  openssl(`req -x509 ${newKey} -keyout ca.key -out ca.crt -subj /CN=ca -days 2`)
  openssl(`req -x509 ${newKey} -keyout self.key -out self.crt -subj /CN=self -days 2`, forHooks)
  for (const [name, days] of [['good', '2'], ['expired', '-1']] as const) {
    openssl(`req ${newKey} -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`, forHooks)
    const byCa = '-CA ca.crt -CAkey ca.key -CAcreateserial -copy_extensions copy'
    openssl(`x509 -req -in ${name}.csr -out ${name}.crt -days ${days}`, byCa)
  }
  for (const name of ['ca', 'self', 'good', 'expired']) {
    const read = (kind: string): string => readFileSync(join(folder, `${name}.${kind}`), 'utf8')
    certificates[name] = { key: read('key'), cert: read('crt') }
  }
})
after(() => rmSync(folder, { recursive: true }))

async function aTlsSink(t: TestContext, name: string) {
  const seen: { servername: unknown; text: string } = { servername: undefined, text: '' }
  const server = createTlsServer({ ...certificates[name] }, (socket: TLSSocket) => {
    seen.servername = socket.servername
    socket.on('error', () => undefined).on('data', (chunk) => {
      seen.text += chunk.toString()
      socket.end(OK)
    })
  })
  return { port: await listening(t, server), seen }
}

function aSecureDoor(t: TestContext) {
  return aDoor(t, { resolver: resolverSaying(dns('127.0.0.1')), ca: certificates['ca']?.cert ?? '' })
}

test('over TLS the server is asked for, and proves, the name in the URL', async (t) => {
  const { port, seen } = await aTlsSink(t, 'good')
  assert.equal((await aSecureDoor(t).ask(`https://hooks.example.:${port}/`)).body, 'ok')
  assert.equal(seen.servername, 'hooks.example')
  assert.match(seen.text, new RegExp(`host: hooks\\.example:${port}\\r\\n`))
})

test('a certificate expired, self-signed, unknown or for another name is tls_failed with its reason', async (t) => {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
  const cases = [
    ['expired', 'hooks.example', /expired/], ['self', 'hooks.example', /itself/],
    ['good', 'other.example', /another host/], ['good', '127.0.0.1', /another host/],
  ] as const
  for (const [name, host, reason] of cases) {
    const { port, seen } = await aTlsSink(t, name)
    const said = await aSecureDoor(t).ask(`https://${host}:${port}/`)
    assert.deepEqual([said.code, seen.text], ['tls_failed', ''], `${name} ${host}`)
    assert.match(said.detail ?? '', reason)
  }
  const { port } = await aTlsSink(t, 'good')
  const strangers = aDoor(t, { resolver: resolverSaying(dns('127.0.0.1')) })
  assert.equal((await strangers.ask(`https://hooks.example:${port}/`)).code, 'tls_failed')
})

test('a server without TLS is tls_failed, one that hangs up during the handshake connection_reset', async (t) => {
  const plain = await anHttpServer(t, (_request, response) => response.end())
  const rude = await listening(t, createServer((socket) => socket.once('data', () => socket.resetAndDestroy())))
  const { ask } = aSecureDoor(t)
  assert.equal((await ask(`https://hooks.example:${plain}/`)).code, 'tls_failed')
  assert.equal((await ask(`https://hooks.example:${rude}/`)).code, 'connection_reset')
  assert.equal((await aDoor(t).ask(`http://127.0.0.1:${(await aTlsSink(t, 'good')).port}/`)).code, 'connection_reset')
})

test('a destination may not set what Postroad or the protocol sets, in any case of letters', () => {
  const prefixed = ['proxy-authorization', 'proxy-connection', 'service-signature', 'service-hops', 'webhook-id']
  const reserved = [...RESERVED_REQUEST_HEADERS, ...prefixed]
  const upper = reserved.map((name) => name.toUpperCase())
  assert.deepEqual([...reserved, ...upper].filter((name) => whyHeaderRefused(name, 'x') === undefined), [])
  for (const name of ['authorization', 'X-Api-Key', 'accept', 'cookie', 'serviceable', 'webhook']) {
    assert.equal(whyHeaderRefused(name, 'x'), undefined, name)
  }
})

test('a header name is a token and a value is printable Latin', () => {
  for (const name of ['', ' ', 'a b', 'a:b', 'a\r\nb', 'é', 'a\0', '(a)', 'host ', 'ｈost', 'coo\u212aie', 'a,b', '"a"']) {
    assert.notEqual(whyHeaderRefused(name, 'x'), undefined, JSON.stringify(name))
  }
  for (const value of ['a\rb', 'a\nb', 'a\r\nx: y', 'a\0b', '\u0100', '嘊', '\u007f', '\u001b[0m', '\ud800']) {
    assert.notEqual(whyHeaderRefused('x-a', value), undefined, JSON.stringify(value))
  }
  for (const value of ['', 'Bearer abc', 'a\tb', 'café']) assert.equal(whyHeaderRefused('x-a', value), undefined)
})

/** Says 200 to every CONNECT and goes nowhere. */
async function aDeafProxy(t: TestContext) {
  const { port, seen } = await aSink(t, (socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n'))
  return { seen, through: (host: string) => transportOf({ tls: null, proxy: { url: `http://${host}:${port}` } }) }
}

test('the guard holds through a proxy: where a name leads is checked here, and the proxy hears of nothing that is refused', async (t) => {
  const { seen, through } = await aDeafProxy(t)
  for (const [addresses, code] of [[['10.0.0.1'], 'blocked_address'], [['1.1.1.1', '169.254.169.254'], 'blocked_address']] as const) {
    const { ask } = aDoor(t, { resolver: resolverSaying(dns(...addresses)) })
    const said = await ask('https://inside.example/', { transport: through('127.0.0.1') })
    assert.equal(said.code, code)
  }
  const { ask } = aDoor(t)
  for (const url of ['https://10.0.0.1/', 'https://[::ffff:10.0.0.1]/', 'http://1.1.1.1/']) assert.equal((await ask(url, { transport: through('127.0.0.1') })).code, 'blocked_address', url)
  assert.deepEqual(seen, { sockets: 0, requests: 0, text: '' })
})

test('a proxy must be where requests may go; plain http to it is for https destinations, or inside', async (t) => {
  const { through } = await aDeafProxy(t)
  const { ask } = aDoor(t, { resolver: resolverSaying(dns('10.0.0.1')) })
  const said = await ask('https://1.1.1.1/', { transport: through('proxy.example') })
  assert.deepEqual([said.code, said.detail?.startsWith('The proxy cannot be used. ')], ['blocked_address', true])
  const literal = await aDoor(t).ask('http://127.0.0.1/', { transport: through('1.1.1.1') })
  assert.deepEqual([literal.code, literal.detail], ['blocked_address', 'The proxy cannot be used. Plain http is not allowed to this address; use https.'])
})

test('CONNECT names the address that was checked, and a request that is called off lets the proxy go', async (t) => {
  const { port, seen } = await aSink(t, () => undefined)
  const { ask, stats } = aDoor(t, { resolver: resolverSaying(dns('1.1.1.1')) })
  const off = new AbortController()
  const transport = transportOf({ tls: null, proxy: { url: `http://127.0.0.1:${port}`, username: 'u', password: 'p' } })
  const asked = ask('https://hooks.example/', { transport, signal: off.signal })
  await until(() => seen.requests === 1)
  assert.match(seen.text, /^CONNECT 1\.1\.1\.1:443 HTTP\/1\.1\r\n/)
  assert.match(seen.text, /proxy-authorization: Basic dTpw\r\n/i)
  assert.doesNotMatch(seen.text, /hooks/)
  off.abort()
  assert.equal((await asked).code, 'timeout')
  await until(() => stats().connections === 0)
})
