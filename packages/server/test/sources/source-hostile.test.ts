import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { LIMITS, type SourceSettings } from '@postroad/contract'
import { followSource, readSource } from '../../src/pipeline/sources/readers/read.ts'
import type { PolledSettings, StreamSettings } from '../../src/pipeline/sources/readers/types.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openReplication } from '../../src/platform/foreign-databases/replication/stream.ts'
import { ForeignFailure } from '../../src/platform/foreign-failure.ts'
import { openWebSocket } from '../../src/platform/outbound/websocket.ts'
import { createOutboundReach, type OutboundReach } from '../../src/platform/outbound-reach.ts'
import {
  aHostilePeer,
  endlessly,
  inTurn,
  MYSQL_GREETING,
  MYSQL_OK,
  pgMessage,
  PG_DONE,
  PG_READY,
  TAKEN_BYTES_MAX,
  type HostilePeer,
} from '../stage/hostile-peers.ts'
import { assertShortTurns } from '../stage/loop-turns.ts'
import { until } from '../stage/outbound-door.ts'

/** Sources whose server is hostile: what it sends without an end, and what it never ends. */

const QUERY = {
  query: 'select id, at from orders',
  cursor_column: 'at',
  key_column: 'id',
  start: 'beginning',
  lag_seconds: 0,
  batch_limit: 10,
  poll_seconds: 60,
  tls: { mode: 'off', ca: null },
} as const
const PLACE = { host: '127.0.0.1', database: 'shop', user: 'reader', password: 'x', tls: QUERY.tls } as const

type Reading = { readonly reach: OutboundReach; readonly port: number; readonly signal: AbortSignal }
type Read = (of: Reading) => Promise<unknown>

const depsOf = (reach: OutboundReach) => ({ reach, clock: systemClock(), deliveryUserAgent: 'Postroad' })

/** Polls the source once. */
const polls =
  (settings: object, connection?: string): Read =>
  ({ reach, port, signal }) =>
    readSource(depsOf(reach), {
      settings: withPort(settings, port) as PolledSettings,
      secret: { connection: connection?.replace('PORT', String(port)) },
      position: null,
      itemsMax: 10,
      rowBytesMax: 1_048_576,
      signal,
    })

/** Follows the stream to its end. */
const follows =
  (settings: object): Read =>
  async ({ reach, port, signal }) => {
    const stream = followSource(depsOf(reach), {
      id: 'an example',
      settings: withPort(settings, port) as StreamSettings,
      secret: {},
      position: null,
      rowBytesMax: 1_048_576,
      signal,
    })
    for await (const { items } of stream) assert.deepEqual(items, [])
  }

const withPort = (settings: object, port: number): SourceSettings =>
  JSON.parse(JSON.stringify(settings).replace('PORT', String(port)))

const POSTGRES = polls({ kind: 'postgres', ...QUERY }, 'postgres://reader:x@127.0.0.1:PORT/shop')
const MYSQL = polls({ kind: 'mysql', ...QUERY }, 'mysql://reader:x@127.0.0.1:PORT/shop')
const HTTP_POLL = polls({
  kind: 'http_poll',
  url: 'http://127.0.0.1:PORT/',
  items_path: null,
  key_path: null,
  cursor: null,
})
const SSE = follows({ kind: 'sse', url: 'http://127.0.0.1:PORT/', events: null })
const REPLICATION: Read = async ({ reach, port, signal }) => {
  const asked = { reach, place: { ...PLACE, port }, slot: 's', publication: 'p', stored: 0n, signal }
  const { ended } = await openReplication(asked, { message: () => undefined, quiet: () => undefined })
  return ended
}
const WEBSOCKET: Read = async ({ reach, port, signal }) => {
  const socket = await openWebSocket(reach, { url: `ws://127.0.0.1:${port}/`, headers: {}, maxPayload: 65_536, signal })
  return new Promise((_resolve, reject) => socket.on('error', reject))
}

type Act = (socket: Socket) => void
const afterHello =
  (head: string | Buffer, piece?: string | Buffer): Act =>
  (socket) =>
    socket.once('data', () => endlessly(socket, head, piece))
const HUGE = 0x7f_ff_ff_f0
/** The headers of the largest packet of MySQL, which another one continues, are in these bytes wherever a packet begins. */
const LARGEST = Buffer.alloc(65_536, 0xff)
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n'
const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
const upgraded =
  (head: Buffer, piece: Buffer): Act =>
  (socket) =>
    socket.once('data', (request: Buffer) => {
      const [, key = ''] = /sec-websocket-key: (\S+)/i.exec(request.toString()) ?? []
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf(key)}\r\n\r\n`,
      )
      endlessly(socket, head, piece)
    })

const ENDLESS: readonly (readonly [kind: string, what: string, read: Read, act: Act, reason: RegExp])[] = [
  ['postgres', 'message at the login', POSTGRES, afterHello(pgMessage('D', '', HUGE)), /^response_too_large$/],
  [
    'postgres',
    'row',
    POSTGRES,
    inTurn(
      (socket) => socket.write(PG_READY),
      (socket) => endlessly(socket, pgMessage('D', '', HUGE)),
    ),
    /^response_too_large$/,
  ],
  [
    'postgres_replication',
    'change',
    REPLICATION,
    replicating((socket) => endlessly(socket, pgMessage('d', '', HUGE))),
    /^change_too_large$/,
  ],
  [
    'mysql',
    'row of packets at the login',
    MYSQL,
    (socket) => endlessly(socket, LARGEST, LARGEST),
    /^response_too_large$/,
  ],
  [
    'mysql',
    'row',
    MYSQL,
    inTurn(
      (socket) => socket.write(MYSQL_OK),
      (socket) => endlessly(socket, LARGEST, LARGEST),
    ),
    /^response_too_large$/,
  ],
  ['http_poll', 'body', HTTP_POLL, afterHello(ANSWER), /^response_too_large$/],
  ['http_poll', 'head', HTTP_POLL, afterHello('HTTP/1.1 200 OK\r\nX: '), /^response_too_large$/],
  ['sse', 'one-line event', SSE, afterHello(`${ANSWER}data: `), /^response_too_large$/],
  ['sse', 'many-line event', SSE, afterHello(ANSWER, 'data: x\n'.repeat(175)), /^response_too_large$/],
  [
    'websocket',
    'frame',
    WEBSOCKET,
    upgraded(Buffer.from([0x82, 127, 0, 0, 1, 0, 0, 0, 0, 0]), Buffer.alloc(1_400)),
    /^WS_ERR_UNSUPPORTED_MESSAGE_LENGTH$/,
  ],
  [
    'websocket',
    'message of empty fragments',
    WEBSOCKET,
    upgraded(Buffer.from([0x02, 0]), Buffer.alloc(1_400)),
    /^WS_ERR_TOO_MANY_/,
  ],
  ['websocket', 'head', WEBSOCKET, afterHello('HTTP/1.1 101 OK\r\nX: '), /^HPE_HEADER_OVERFLOW$/],
]

/** Where the client has a position, the server starts to replicate. */
function replicating(act: Act): Act {
  return (socket) => {
    let said = 0
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('START_REPLICATION')) {
        socket.write(pgMessage('W', [0, 0, 0]))
        act(socket)
      } else socket.write(said === 0 ? PG_READY : PG_DONE)
      said += 1
    })
  }
}

function aReach(t: TestContext): OutboundReach {
  const reach = createOutboundReach({ allow: ['127.0.0.0/8'] })
  t.after(() => reach.close())
  return reach
}

const reasonOf = (error: unknown): string =>
  error instanceof ForeignFailure
    ? error.reason
    : error instanceof Error && 'code' in error
      ? String(error.code)
      : String(error)

/** An answer of a database may have this many bytes. The rest is in the buffers of the system. */
const SOURCE_BYTES_MAX = 4 * LIMITS.sourceBatchBytesMax + TAKEN_BYTES_MAX

describe('a source that sends an endless unit in small pieces', () => {
  for (const [kind, what, read, act, reason] of ENDLESS)
    test(`${kind}: a ${what} without an end fails with its reason, and the socket is gone`, async (t) => {
      const peer = await aHostilePeer(
        t,
        kind === 'mysql' && what === 'row'
          ? (socket) => {
              socket.write(MYSQL_GREETING)
              act(socket)
            }
          : act,
      )
      const reach = aReach(t)
      const fails = async (): Promise<void> => {
        const reading = read({ reach, port: peer.port, signal: new AbortController().signal })
        assert.match(reasonOf(await reading.catch((error: unknown) => error)), reason)
        await until(() => peer.counts.open === 0)
      }
      // The first one of a kind loads its driver.
      await fails()
      assert.ok(peer.counts.taken <= SOURCE_BYTES_MAX, `${peer.counts.taken} bytes were read`)
      await assertShortTurns(fails)
    })
})

describe('a source that is stopped', () => {
  for (const [kind, read, act] of [
    ['postgres', POSTGRES, () => undefined],
    ['postgres_replication', REPLICATION, replicating(() => undefined)],
    ['mysql', MYSQL, () => undefined],
    ['http_poll', HTTP_POLL, () => undefined],
    ['sse', SSE, (socket: Socket) => socket.once('data', () => socket.write(ANSWER))],
    ['websocket', WEBSOCKET, () => undefined],
  ] as const)
    test(`${kind}: the socket is gone immediately, whatever the server does`, async (t) => {
      const peer: HostilePeer = await aHostilePeer(t, act)
      const stop = new AbortController()
      const reading = read({ reach: aReach(t), port: peer.port, signal: stop.signal }).catch(() => undefined)
      await until(() => peer.counts.open === 1)
      stop.abort()
      await reading
      await until(() => peer.counts.open === 0)
    })
})

test('postgres_replication: a server that asks for a response without an end, and reads none, gets few', async (t) => {
  const ASKED = 400_000
  const marker = 0x1234_5678n
  const keepalive = pgMessage('d', [...Buffer.from('k'), ...Buffer.alloc(16), 1])
  const last = pgMessage('d', [...Buffer.from('k'), 0, 0, 0, 0, 0, 0, 0, 9, ...Buffer.alloc(8), 0])
  let [replies, isMarked] = [0, false]
  let peer: Socket | undefined
  const { port } = await aHostilePeer(
    t,
    replicating((socket) => {
      peer = socket
      socket.removeAllListeners('data').pause()
      for (let n = 0; n < ASKED; n += 1_000) socket.write(Buffer.alloc(1_000 * keepalive.length, keepalive))
      socket.write(last)
    }),
  )
  const flooded = Promise.withResolvers<void>()
  const asked = { reach: aReach(t), place: { ...PLACE, port }, slot: 's', publication: 'p', stored: 0n }
  const stop = new AbortController()
  const events = { message: () => undefined, quiet: (lsn: bigint) => lsn === 9n && flooded.resolve() }
  const replication = await openReplication({ ...asked, signal: stop.signal }, events)
  await flooded.promise
  replication.acknowledge(marker)
  peer?.resume().on('data', (chunk: Buffer) => {
    replies += chunk.length
    isMarked ||= chunk.includes(Buffer.from('12345679', 'hex'))
  })
  await until(() => isMarked)
  assert.ok(replies < (ASKED * 39) / 2, `${replies} bytes of responses`)
  stop.abort()
})
