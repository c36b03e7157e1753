import assert from 'node:assert/strict'
import { createSecureServer, type ServerHttp2Session } from 'node:http2'
import { createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { aDoor, anHttpServer, aSink, dns, listening, OK, resolverSaying, until } from '../stage/outbound-door.ts'
import { anAuthority } from '../stage/tls-files.ts'

/** The answers of receivers as they come: early, odd, compressed, or not HTTP at all. */

const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

test('an interim response that nobody asked for is skipped, on each request of a connection and in any pieces', async (t) => {
  const heads = [
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 102 Processing\r\nX: 1\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\n\r\n',
  ]
  const whole = await aSink(t, (socket) => socket.write(heads.join('') + OK))
  const { ask, stats } = aDoor(t)
  for (let n = 0; n < 3; n += 1) {
    const said = await ask(`http://127.0.0.1:${whole.port}/`)
    assert.deepEqual([said.status, said.body, said.headers], [200, 'ok', { 'content-length': '2' }])
  }
  assert.deepEqual([whole.seen.requests, whole.seen.sockets, stats().idle], [3, 1, 1])
  const pieces = await aSink(t, (socket) => {
    socket.setNoDelay(true)
    const left = (heads.join('') + OK).split('')
    const next = (): void => void (left.length > 0 && socket.write(left.shift() ?? '', () => setImmediate(next)))
    next()
  })
  assert.equal((await ask(`http://127.0.0.1:${pieces.port}/`)).body, 'ok')
})

test('a host that does not speak HTTP, and a response that is not valid, fail with their cause', async (t) => {
  const NOT_HTTP = 'The host did not respond with HTTP.'
  const cases = [
    ['SSH-2.0-OpenSSH_9.6\r\n', NOT_HTTP],
    ['220 mail.example.com ESMTP\r\n', NOT_HTTP],
    ['\u0015\u0003\u0001\u0000\u0002\u0002\u0028', NOT_HTTP],
    ['HTTP/1.1 abc OK\r\n\r\n', 'The response is not valid HTTP: Invalid status code.'],
    ['HTTP/3.7 200 OK\r\n\r\n', 'The response is not valid HTTP: Invalid HTTP version.'],
    ['HTTP/1.1 200 OK\r\nX Y: a\r\n\r\n', 'The response is not valid HTTP: Invalid header token.'],
    ['HTTP/1.1 200 OK\nContent-Length: 2\n\nok', /^The response is not valid HTTP: Missing expected CR/],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
      /^The response is not valid HTTP: Invalid character in Content-Length/,
    ],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok', /contradict each other about the length/],
    [
      `HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      /contradict each other about the length/,
    ],
    ['HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n', /switched to another protocol/],
  ] as const
  const { ask } = aDoor(t)
  for (const [text, detail] of cases) {
    const { port } = await aSink(t, (socket) => socket.write(text, 'latin1'))
    const said = await ask(`http://127.0.0.1:${port}/`)
    assert.equal(said.code, 'connection_reset', text)
    if (typeof detail === 'string') assert.equal(said.detail, detail)
    else assert.match(said.detail ?? '', detail)
  }
})

test('a server that greets before it reads the request does not speak HTTP', async (t) => {
  const port = await listening(
    t,
    createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')),
  )
  assert.equal((await aDoor(t).ask(`http://127.0.0.1:${port}/`)).detail, 'The host did not respond with HTTP.')
})

test('a response with a header of 20 KiB counts, and its headers are cut with a note', async (t) => {
  const large = `HTTP/1.1 200 OK\r\nA: 1\r\nX: ${'x'.repeat(20_480)}\r\nContent-Length: 2\r\n\r\nok`
  const { port } = await aSink(t, (socket) => socket.write(large))
  const { ask, stats } = aDoor(t)
  const said = await ask(`http://127.0.0.1:${port}/`)
  assert.deepEqual([said.status, said.body, said.headers?.['a'], said.headers?.['x']?.length], [200, 'ok', '1', 16_381])
  assert.equal(said.note, 'Only the first 16 KiB and 100 lines of the response headers are stored.')
  assert.equal(stats().idle, 1, 'the connection is reused')
})

test('a compressed body is stored inflated, the start of a cut one too, and never more than the limit', async (t) => {
  const codings = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const
  const text = Array.from({ length: 1_000 }, (_value, nth) => `Grüße ${nth * nth}`).join(' ')
  const { ask } = aDoor(t)
  const stored = async (coding: string, body: Buffer) => {
    const port = await anHttpServer(t, (_request, response) =>
      response.writeHead(500, { 'content-encoding': coding }).end(body),
    )
    const { body: shown, truncated, status } = await ask(`http://127.0.0.1:${port}/`)
    return [status, shown, truncated] as const
  }
  for (const [coding, compress] of codings)
    assert.deepEqual(await stored(coding, compress(text)), [500, text, false], coding)
  const [, start, cut] = await stored('gzip', gzipSync(text).subarray(0, -200))
  assert.equal(text.startsWith(start ?? '?') && (start ?? '').length > 0, true, 'the start of a body that broke off')
  assert.equal(cut, false)
  const [, bomb, isCut] = await stored('gzip', gzipSync(Buffer.alloc(50_000_000, 'a')))
  assert.deepEqual([bomb, isCut], ['a'.repeat(16_384), true])
  assert.deepEqual(await stored('gzip', Buffer.from('plain')), [500, 'plain', false], 'not what the header says')
  assert.deepEqual(await stored('unknown', Buffer.from('plain')), [500, 'plain', false])
})

test('a body is stored in the charset of its content type', async (t) => {
  const cases = [
    ['text/plain; charset=iso-8859-1', Buffer.from('Grüße', 'latin1'), 'Grüße'],
    ['text/html;charset="windows-1252"', Buffer.from([0x80, 0x35]), '€5'],
    ['text/plain; charset=utf-16le', Buffer.from('né', 'utf16le'), 'né'],
    ['text/plain; charset=UTF8', Buffer.from('né'), 'né'],
    ['text/plain; charset=klingon', Buffer.from('né'), 'né'],
  ] as const
  const { ask } = aDoor(t)
  for (const [type, bytes, text] of cases) {
    const port = await anHttpServer(t, (_request, response) =>
      response.writeHead(200, { 'content-type': type }).end(bytes),
    )
    assert.equal((await ask(`http://127.0.0.1:${port}/`)).body, text, type)
  }
})

const authority = anAuthority()
const host = authority.sign('hooks.example', { host: 'hooks.example' })
const aSecureDoor = (t: TestContext) => aDoor(t, { resolver: resolverSaying(dns('127.0.0.1')), ca: authority.cert })

test('a receiver that speaks only HTTP/2 gets the request over HTTP/2, and one that speaks both gets HTTP/1.1', async (t) => {
  const sessions = new Set<ServerHttp2Session>()
  const aServer = async (allowHTTP1: boolean) => {
    const seen: string[] = []
    const server = createSecureServer({ ...host, allowHTTP1 }, (request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        seen.push(`${request.httpVersion} ${request.method} ${request.url} ${String(request.headers['x-k'])} ${body}`)
        response.writeHead(201, { 'x-a': '1' })
        response.end('made')
      })
    })
    server.on('session', (session) => sessions.add(session))
    return { port: await listening(t, server), seen }
  }
  t.after(() => sessions.forEach((session) => session.destroy()))
  const { ask, stats } = aSecureDoor(t)
  for (const [allowHTTP1, version] of [
    [false, '2.0'],
    [true, '1.1'],
  ] as const) {
    const { port, seen } = await aServer(allowHTTP1)
    for (let n = 0; n < 2; n += 1) {
      const said = await ask(`https://hooks.example:${port}/a?b`, { headers: { 'x-k': 'v' }, body: '{"n":1}' })
      assert.deepEqual(
        [said.status, said.body, said.headers?.['x-a'], said.truncated],
        [201, 'made', '1', false],
        said.detail,
      )
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 2 }, () => `${version} POST /a?b v {"n":1}`),
    )
  }
  assert.equal(sessions.size, 1, 'one connection for both requests')
  assert.equal(stats().inFlight, 0)
})

test('over HTTP/2 the timeout and the limits are the same', async (t) => {
  const server = createSecureServer(host, (request, response) => {
    if (request.url === '/silent') return
    response.writeHead(200)
    const pour = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
      response.once('drain', pour)
    }
    pour()
  })
  let open = 0
  server.on('session', (session) => {
    open += 1
    session.on('close', () => (open -= 1))
    session.on('error', () => undefined)
  })
  const port = await listening(t, server)
  const { ask, stats } = aSecureDoor(t)
  const endless = await ask(`https://hooks.example:${port}/`)
  assert.deepEqual([endless.status, endless.body?.length, endless.truncated], [200, 16_384, true], endless.detail)
  const silent = await ask(`https://hooks.example:${port}/silent`, { timeoutMs: 1_000 })
  assert.deepEqual([silent.code, silent.detail], ['timeout', 'The host did not respond in time.'])
  await until(() => open === 0 && stats().connections === 0)
})

test('a TLS handshake that fails names its cause', async (t) => {
  const aTlsServer = (options: TlsOptions): Promise<number> => listening(t, createTlsServer({ ...host, ...options }))
  const plain = (act: (socket: Socket) => unknown): Promise<number> =>
    listening(
      t,
      createServer((socket) => void act(socket)),
    )
  const cases = [
    [await plain((socket) => socket.once('data', () => socket.write(EMPTY))), /does not speak TLS on this port/],
    [
      await plain((socket) => socket.once('data', () => socket.end())),
      /closed the connection during the TLS handshake/,
    ],
    [
      await aTlsServer({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
      /does not offer TLS 1\.2 or 1\.3/,
    ],
    [await aTlsServer({ maxVersion: 'TLSv1.2', ciphers: 'PSK' }), /none of the offered ciphers/],
    [await aTlsServer({ requestCert: true, ca: authority.cert }), /client certificate/],
    [await aTlsServer({ ALPNProtocols: ['ftp'] }), /neither HTTP\/1\.1 nor HTTP\/2/],
  ] as const
  const { ask } = aSecureDoor(t)
  for (const [port, detail] of cases) {
    const said = await ask(`https://hooks.example:${port}/`)
    assert.match(said.detail ?? JSON.stringify(said), detail)
    assert.match(said.code ?? '', /^(tls_failed|connection_reset)$/)
  }
})
