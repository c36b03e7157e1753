import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { aDoor, anHttpServer, aSink, listening, OK, trickle, until } from '../stage/outbound-door.ts'
import { endlessly } from '../stage/hostile-peers.ts'

const SLOW: Readonly<Record<string, (socket: Socket) => void>> = {
  'never answers': () => undefined,
  'trickles the head': (socket) => trickle(socket, 'HTTP/1.1 200 OK\r\nX: ', 'a'),
  'trickles interim responses': (socket) => trickle(socket, '', 'HTTP/1.1 103 Early\r\n\r\n'),
  'never ends the status line': (socket) => trickle(socket, 'HTTP/1.1 200 ', 'O'),
}

test('whatever a slow destination does, the attempt ends at its total timeout and its socket is closed', async (t) => {
  const { ask, stats } = aDoor(t)
  await Promise.all(
    Object.entries(SLOW).map(async ([how, act]) => {
      let closed = false
      const { port } = await aSink(t, (socket) => {
        socket.on('close', () => (closed = true))
        act(socket)
      })
      const said = await ask(`http://127.0.0.1:${port}/`, { timeoutMs: 1_000 })
      assert.equal(said.code, 'timeout', how)
      assert.ok((said.durationMs ?? 0) >= 1_000 && (said.durationMs ?? 0) <= 1_500, `${how}: ${said.durationMs} ms`)
      await until(() => closed)
    }),
  )
  assert.deepEqual(stats(), { lanes: 0, connections: 0, idle: 0, inFlight: 0 })
})

test('a peer that never finishes TLS ends after connectMs, or at the total timeout when that is sooner', async (t) => {
  let closed = 0
  const server = createServer((socket) => socket.resume().on('close', () => (closed += 1)))
  const port = await listening(t, server)
  const early = aDoor(t, { connectMs: 300 }).ask(`https://127.0.0.1:${port}/`)
  const late = aDoor(t).ask(`https://127.0.0.1:${port}/`, { timeoutMs: 600 })
  const said = await Promise.all([early, late])
  assert.deepEqual(
    said.map(({ code }) => code),
    ['timeout', 'timeout'],
  )
  for (const { durationMs } of said) assert.ok((durationMs ?? 0) < 1_600, `${durationMs} ms`)
  await until(() => closed === 2)
})

test('an aborted request ends immediately, before or after it was sent', async (t) => {
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

test('after close every request under way and every later request fails', async (t) => {
  const { port } = await aSink(t, () => undefined)
  const { ask, stats, close } = aDoor(t)
  const under = Array.from({ length: 20 }, () => ask(`http://127.0.0.1:${port}/`, { maxInFlight: 2 }))
  await until(() => stats().connections === 2)
  await close()
  for (const said of await Promise.all(under)) assert.equal(said.kind, 'failure')
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).kind, 'failure')
  assert.deepEqual(stats(), { lanes: 0, connections: 0, idle: 0, inFlight: 0 })
})

test('the first 16 KiB of a body are stored; a longer body is truncated and its status counts', async (t) => {
  const { ask } = aDoor(t)
  const sizes = [
    [16_384, false],
    [16_385, true],
    [65_536, true],
    [65_537, true],
    [5_000_000, true],
  ] as const
  for (const [bytes, truncated] of sizes) {
    const port = await anHttpServer(t, (_request, response) => response.end('x'.repeat(bytes)))
    const said = await ask(`http://127.0.0.1:${port}/`)
    assert.deepEqual([said.status, said.truncated, said.body?.length], [200, truncated, Math.min(bytes, 16_384)])
  }
})

test('an endless body costs the receiver its connection, and Postroad no memory', async (t) => {
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

test('a body that arrives in the smallest pieces is assembled', async (t) => {
  const { port } = await aSink(t, (socket) => {
    const chunks = `${'1\r\na\r\n'.repeat(10_000)}2\r\nbc\r\n0\r\n\r\n`
    socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`)
  })
  assert.equal((await aDoor(t).ask(`http://127.0.0.1:${port}/`)).body, `${'a'.repeat(10_000)}bc`)
})

test('every body is stored as text: bad bytes and NUL become U+FFFD, and half a character is left out', async (t) => {
  const bodies = [Buffer.from('a\0b'), Buffer.from([0x61, 0xff, 0x62]), Buffer.from(`${'x'.repeat(16_383)}é`)]
  const port = await anHttpServer(t, (request, response) => response.end(bodies[Number(request.url?.slice(1))]))
  const { ask } = aDoor(t)
  const said = await Promise.all([0, 1, 2].map((nth) => ask(`http://127.0.0.1:${port}/${nth}`)))
  assert.deepEqual(
    said.map(({ body }) => body),
    ['a\ufffdb', 'a\ufffdb', 'x'.repeat(16_383)],
  )
})

const FLOODS: Readonly<Record<string, string>> = {
  'one long header': `X: ${'a'.repeat(70_000)}\r\n`,
  'many headers': 'X-Header: value\r\n'.repeat(10_000),
}

/** Sends `head`, and then `flood` again and again. */
function pours(head: string, flood: string): (socket: Socket) => void {
  return (socket) => {
    socket.write(head)
    const pour = (): void => void (socket.destroyed || socket.write(flood, (error) => (error ? undefined : pour())))
    pour()
  }
}

test('headers without an end are not stored, and the status counts', async (t) => {
  const { ask, stats } = aDoor(t)
  for (const [how, flood] of Object.entries(FLOODS)) {
    for (const status of [200, 503]) {
      const { port } = await aSink(t, pours(`HTTP/1.1 ${status} OK\r\n`, flood))
      const said = await ask(`http://127.0.0.1:${port}/`)
      assert.deepEqual([said.status, said.headers, said.body, said.truncated], [status, {}, '', true], how)
      assert.equal(said.note, 'The response headers are longer than 64 KiB, so none of them are stored.')
    }
  }
  await until(() => stats().connections === 0)
})

test('framing of a body without an end costs the receiver its connection, and the status counts', async (t) => {
  const { ask, stats } = aDoor(t)
  for (const framing of ['1;', '0\r\nX: ', '0\r\n']) {
    let sent = 0
    const { port } = await aSink(t, (socket) => {
      socket.on('close', () => (sent = socket.bytesWritten))
      const piece = framing === '0\r\n' ? 'X: a\r\n'.repeat(200) : undefined
      endlessly(socket, `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${framing}`, piece)
    })
    const said = await ask(`http://127.0.0.1:${port}/`)
    assert.deepEqual([said.status, said.body, said.truncated], [200, '', true])
    await until(() => sent > 0)
    assert.ok(sent < 32 * 1_048_576, `${sent} bytes went out`)
  }
  await until(() => stats().connections === 0)
})

test('interim responses without an end give response_too_large', async (t) => {
  const { port } = await aSink(t, pours('', 'HTTP/1.1 103 Early\r\n\r\n'.repeat(1_000)))
  assert.equal((await aDoor(t).ask(`http://127.0.0.1:${port}/`)).code, 'response_too_large')
})

test('an early hint changes nothing, and only a hundred of many small headers are stored', async (t) => {
  const headers = Array.from({ length: 500 }, (_value, nth) => `h${nth}: ${nth}\r\n`).join('')
  const early = 'HTTP/1.1 103 Early\r\nLink: x\r\n\r\n'
  const { port } = await aSink(t, (socket) => socket.write(early + OK.replace('Content', `${headers}Content`)))
  const said = await aDoor(t).ask(`http://127.0.0.1:${port}/`)
  assert.deepEqual([said.status, said.body, Object.keys(said.headers ?? {}).length], [200, 'ok', 100])
})

test('there are never more than maxInFlight requests and sockets to one origin; further requests wait', async (t) => {
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

test('a request that waited too long for a connection is a timeout and takes no connection from another request', async (t) => {
  const { port, seen } = await aSink(t, (socket) => setTimeout(() => socket.write(OK), 900))
  const { ask, stats } = aDoor(t)
  const first = ask(`http://127.0.0.1:${port}/`, { maxInFlight: 1 })
  const second = ask(`http://127.0.0.1:${port}/`, { maxInFlight: 1, timeoutMs: 300 })
  assert.match((await second).detail ?? '', /free in time/)
  assert.equal((await first).status, 200)
  assert.deepEqual([seen.requests, stats().inFlight], [1, 0])
})

test('a separate lane has separate connections: a slow neighbor at the same origin delays no other lane', async (t) => {
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

test('idle connections are bounded over all lanes: the connection with the longest idle time makes room', async (t) => {
  const { port, seen } = await aSink(t, (socket) => socket.write(OK))
  const { ask, stats } = aDoor(t, { idleConnectionsMax: 3 })
  for (let n = 0; n < 20; n++) assert.equal((await ask(`http://127.0.0.1:${port}/`, { lane: `${n}` })).status, 200)
  assert.deepEqual(stats(), { lanes: 3, connections: 3, idle: 3, inFlight: 0 })
  for (const lane of ['17', '18', '19']) await ask(`http://127.0.0.1:${port}/`, { lane })
  assert.equal(seen.sockets, 20, 'the three most recent ones remained')
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
