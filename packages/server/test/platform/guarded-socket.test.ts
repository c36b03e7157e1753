import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { Budget, GuardedSocket } from '../../src/platform/guarded/guarded-socket.ts'
import { openGuarded } from '../../src/platform/guarded/open.ts'
import { openRelay } from '../../src/platform/guarded/relay.ts'
import { AMQP, KAFKA, MYSQL, NATS, POSTGRES, REDIS, type Units } from '../../src/platform/guarded/units.ts'
import { createOutboundReach } from '../../src/platform/outbound-reach.ts'
import { aHostilePeer } from '../stage/hostile-peers.ts'
import { listening, until } from '../stage/outbound-door.ts'

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))

/** The units of each protocol, one after another. */
const STREAMS: readonly (readonly [Units, readonly Buffer[]])[] = [
  [AMQP, [bytes([1, 0, 0, 0, 0, 0, 2, 9, 9, 0xce]), bytes([8, 0, 0, 0, 0, 0, 0, 0xce]), bytes('AMQP', [0, 0, 9, 1])]],
  [KAFKA, [bytes([0, 0, 0, 3, 1, 2, 3]), bytes([0, 0, 0, 0]), bytes([0, 0, 0, 1, 7])]],
  [MYSQL, [bytes([3, 0, 0, 1, 1, 2, 3]), bytes([0, 0, 0, 2]), bytes([1, 0, 0, 3, 7])]],
  [POSTGRES, [bytes('Z', [0, 0, 0, 5], 'I'), bytes('1', [0, 0, 0, 4]), bytes('D', [0, 0, 0, 7, 1, 2, 3])]],
  [
    NATS,
    [
      bytes('INFO {}\r\n'),
      bytes('MSG a.b 1 in 5\r\nMSG 9\r\n'),
      bytes('hmsg a 1 2 4\r\n\r\n\r\n\r\n'),
      bytes('+OK\r\n'),
    ],
  ],
  [REDIS, [bytes('+OK\r\n'), bytes('$4\r\n$9\r\n\r\n'), bytes('$-1\r\n'), bytes(':7\r\n'), bytes('-ERR no\r\n')]],
]

type Act = (socket: Socket) => void

async function guarded(t: TestContext, { act, ...budget }: Budget & { readonly act: Act }): Promise<GuardedSocket> {
  const reach = createOutboundReach({ allow: ['127.0.0.0/8'] })
  t.after(() => reach.close())
  const port = await listening(t, createServer(act))
  const peer = { host: '127.0.0.1', port, isEncrypted: false, tls: null, opening: null }
  return openGuarded(reach, { ...peer, ...budget, signal: new AbortController().signal })
}

/** Writes byte by byte, so that the other side reads as few at a time as the system lets it. */
const byteByByte =
  (stream: Buffer): Act =>
  (socket) => {
    socket.setNoDelay(true)
    let at = 0
    const next = (): void =>
      void (at < stream.length && socket.write(stream.subarray(at, ++at), () => setImmediate(next)))
    next()
  }

for (const [units, stream] of STREAMS)
  test(`a reader of ${units.server} gets whole units, in whatever pieces they come`, async (t) => {
    const ends = new Set(stream.map((_unit, nth) => Buffer.concat(stream.slice(0, nth + 1)).length))
    const whole = Buffer.concat(stream)
    for (const act of [byteByByte(whole), (socket: Socket) => socket.write(whole)]) {
      const socket = await guarded(t, { units, unitBytesMax: 100, answerBytesMax: 1_000, act })
      let seen = Buffer.alloc(0)
      socket.on('data', (chunk: Buffer) => {
        seen = Buffer.concat([seen, chunk])
        assert.ok(ends.has(seen.length), `${seen.length} bytes are no whole units`)
      })
      await until(() => seen.length === whole.length)
      assert.deepEqual(seen, whole)
      socket.destroy()
    }
  })

test('no byte is examined twice, and none of a unit whose size is known', async (t) => {
  const examined: number[] = []
  const units: Units = {
    server: 'a test',
    sizeOf: (held, from) => {
      examined.push(held.length - from)
      const end = held.indexOf('\n', from)
      return end < 0 ? undefined : end + 100
    },
  }
  const line = `${'x'.repeat(50)}\n`
  const socket = await guarded(t, {
    units,
    unitBytesMax: 200,
    answerBytesMax: 200,
    act: byteByByte(bytes(line, 'y'.repeat(99))),
  })
  let seen = 0
  socket.on('data', (chunk: Buffer) => (seen += chunk.length))
  await until(() => seen === 150)
  assert.equal(
    examined.reduce((sum, count) => sum + count, 0),
    line.length,
  )
})

test('a reader that throws at a unit ends its connection, and its owner sees the reason', async (t) => {
  const socket = await guarded(t, {
    units: KAFKA,
    unitBytesMax: 100,
    answerBytesMax: 100,
    act: (peer) => peer.write(bytes([0, 0, 0, 0])),
  })
  const failed = new Promise<Error>((resolve) => socket.on('error', resolve))
  socket.on('data', () => {
    throw new RangeError('out of range')
  })
  assert.match(
    (await failed).message,
    /^The server sent a message that Postroad cannot read \(out of range\)\. Check that it is a Kafka broker\.$/,
  )
  assert.equal(socket.breach?.code, 'connection_reset')
})

test('the budget of an answer counts until the next one, and can be another one then', async (t) => {
  const socket = await guarded(t, {
    unitBytesMax: Infinity,
    answerBytesMax: 5,
    act: (peer) => peer.on('data', (chunk: Buffer) => peer.write('x'.repeat(Number(chunk.toString())))),
  })
  let seen = 0
  socket.on('data', (chunk: Buffer) => (seen += chunk.length))
  socket.on('error', () => undefined)
  const asked = async (count: number, total: number): Promise<void> => {
    socket.write(String(count))
    await until(() => seen === total || socket.destroyed)
  }
  await asked(5, 5)
  socket.startAnswer()
  await asked(5, 10)
  socket.startAnswer(9)
  await asked(9, 19)
  assert.equal(socket.destroyed, false)
  await asked(1, 20)
  assert.equal(socket.breach?.message, 'The server sent more than 9 bytes in one response.')
})

test('a peer that was asked nothing starts no answer', async (t) => {
  const socket = await guarded(t, {
    unitBytesMax: Infinity,
    answerBytesMax: 5,
    act: (peer) => peer.once('data', () => byteByByte(Buffer.alloc(100))(peer)),
  })
  // A driver believes the peer that its answer has ended.
  socket.on('data', () => socket.startAnswer())
  socket.on('error', () => undefined)
  socket.write('?')
  await until(() => socket.destroyed)
  assert.equal(socket.breach?.message, 'The server sent more than 5 bytes in one response.')
})

for (const [when, opening] of [
  ['before the connection', null],
  ['while the server owes its part of TLS', 'tls'],
  ['while the server owes its greeting', 'nats'],
] as const)
  test(`an owner who gives up ${when} leaves no connection`, async (t) => {
    const reach = createOutboundReach({ allow: ['127.0.0.0/8'] })
    t.after(() => reach.close())
    const peer = await aHostilePeer(t, () => undefined)
    const stop = new AbortController()
    if (opening === null) stop.abort()
    const opened = openGuarded(reach, {
      host: '127.0.0.1',
      port: peer.port,
      isEncrypted: true,
      tls: null,
      opening,
      unitBytesMax: 1,
      answerBytesMax: 1,
      signal: stop.signal,
    })
    const rejected = assert.rejects(opened)
    if (opening !== null) await until(() => peer.counts.open === 1)
    stop.abort()
    await rejected
    await until(() => peer.counts.open === 0)
    assert.equal(peer.counts.made, opening === null ? 0 : 1)
  })

test('a peer that writes faster than its reader reads has to wait', async (t) => {
  let written = 0
  const socket = await guarded(t, {
    unitBytesMax: Infinity,
    answerBytesMax: Infinity,
    act: (peer) => {
      const more = (): void => {
        while (!peer.destroyed && peer.write(Buffer.alloc(65_536)));
        written = peer.bytesWritten
        peer.once('drain', more)
      }
      more()
    },
  })
  socket.pause()
  let before = -1
  // The buffers of the system fill up, and then nothing moves.
  await until(() => {
    const stands = written > 0 && written === before && socket.readableLength > 0
    before = written
    return stands
  })
  assert.ok(socket.readableLength < 1_000_000, `${socket.readableLength} bytes wait here`)
  socket.destroy()
})

test('a relay takes one connection, carries both directions, and ends with either side', async (t) => {
  let open = 0
  const act: Act = (peer) => {
    open += 1
    peer.on('close', () => (open -= 1)).on('data', (chunk: Buffer) => peer.write(chunk))
  }
  for (const endsFirst of ['driver', 'owner'] as const) {
    const socket = await guarded(t, { unitBytesMax: Infinity, answerBytesMax: Infinity, act })
    const place = await openRelay(socket)
    const { connect } = await import('node:net')
    const driver = connect(place)
    let heard = ''
    driver.on('data', (chunk: Buffer) => (heard += chunk.toString()))
    driver.on('error', () => undefined)
    driver.write('hello')
    await until(() => heard === 'hello')
    const stranger = connect(place)
    const refused = new Promise((resolve) => stranger.on('close', resolve))
    stranger.on('error', () => undefined)
    await refused
    if (endsFirst === 'driver') driver.destroy()
    else socket.destroy()
    await until(() => open === 0 && driver.destroyed && socket.destroyed)
  }
})
