import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { LIMITS, type DestinationConfig } from '@postroad/contract'
import { createLinks, type Links } from '../../src/platform/links/links.ts'
import { createOutboundReach } from '../../src/platform/outbound-reach.ts'
import {
  aHostilePeer,
  endlessly,
  inTurn,
  natsAnswering,
  pgMessage,
  PG_READY,
  TAKEN_BYTES_MAX,
  type HostilePeer,
} from '../stage/hostile-peers.ts'
import { assertShortTurns } from '../stage/loop-turns.ts'
import { trickle, until } from '../stage/outbound-door.ts'

/** Destinations beyond HTTP whose server is hostile. The pool of links owns their sockets. */

type Kind = 'amqp' | 'kafka' | 'nats' | 'postgres' | 'redis_stream' | 'smtp'
const CONFIGS: { readonly [K in Kind]: Extract<DestinationConfig, { readonly kind: K }> } = {
  amqp: { kind: 'amqp', exchange: '', routing_key: 'events' },
  kafka: { kind: 'kafka', topic: 'events', key: '{id}', sasl: 'PLAIN' },
  nats: { kind: 'nats', subject: 'events', stream: null },
  postgres: {
    kind: 'postgres',
    table: 'events',
    columns: { id: 'id', body: 'body', dataset: null, received_at: null },
    encryption: 'off',
  },
  redis_stream: { kind: 'redis_stream', stream: 'events', length_max: null, dedupe_seconds: null },
  smtp: { kind: 'smtp', from: 'a@example.com', to: ['b@example.com'], subject: '{id}', encryption: 'off' },
}

function aPool(t: TestContext): Links {
  const reach = createOutboundReach({ allow: ['127.0.0.0/8'] })
  const links = createLinks({ reach })
  t.after(() => {
    links.close()
    reach.close()
  })
  return links
}

type Sending = { readonly kind: Kind; readonly peer: HostilePeer; readonly timeoutMs?: number }
const send = (links: Links, { kind, peer: { port }, timeoutMs = LIMITS.deliveryTimeoutMsMax }: Sending) =>
  links.send({
    lane: kind,
    key: '1',
    place: {
      host: '127.0.0.1',
      port,
      path: '/0',
      protocol: `${kind}:`,
      isEncrypted: false,
      tls: null,
      user: null,
      token: null,
    },
    config: CONFIGS[kind],
    maxInFlight: 1,
    message: { id: 'rec_1', dataset: 'orders', receivedAt: new Date(0), body: '{}', headers: {} },
    timeoutMs,
  })

type Act = (socket: Socket) => void
const afterHello =
  (head: string | Buffer, piece?: string): Act =>
  (socket) =>
    socket.once('data', () => endlessly(socket, head, piece))
const TOO_LONG = Buffer.from([0x7f, 0xff, 0xff, 0xff])

/** Peers that send something without an end, and the reason in the attempt. */
const ENDLESS: readonly (readonly [what: string, kind: Kind, act: Act, detail: RegExp])[] = [
  [
    'greeting',
    'nats',
    (socket) => endlessly(socket, 'INFO {'),
    /without the end of a message.* Check that it is NATS\.$/,
  ],
  [
    'reply',
    'nats',
    natsAnswering((socket) => endlessly(socket, 'MSG foo 1 2000000000\r\n')),
    /a message of 2000000024 bytes/,
  ],
  [
    'row of small messages',
    'nats',
    natsAnswering((socket) => endlessly(socket, '', '+OK\r\n'.repeat(280))),
    /in one response/,
  ],
  ['text', 'redis_stream', afterHello('$2000000000\r\n'), /a message of 2000000015 bytes.* Check that it is Redis\.$/],
  ['line', 'redis_stream', afterHello('-'), /without the end of a message/],
  [
    'message at the login',
    'postgres',
    afterHello(pgMessage('D', '', 0x7f_ff_ff_f0)),
    /a message of 2147483633 bytes.* PostgreSQL\.$/,
  ],
  [
    'row',
    'postgres',
    inTurn(
      (socket) => socket.write(PG_READY),
      (socket) => endlessly(socket, pgMessage('D', '', 0x7f_ff_ff_f0)),
    ),
    /a message of/,
  ],
  [
    'row of notices',
    'postgres',
    inTurn(
      (socket) => socket.write(PG_READY),
      (socket) => endlessly(socket, '', pgMessage('N', 'Mx\0\0').toString('latin1').repeat(175)),
    ),
    /in one response/,
  ],
  [
    'frame',
    'amqp',
    afterHello(Buffer.from([1, 0, 0, ...TOO_LONG])),
    /a message of 2147483655 bytes.* an AMQP broker\.$/,
  ],
  ['reply', 'kafka', afterHello(TOO_LONG), /a message of 2147483651 bytes.* a Kafka broker\.$/],
  ['line', 'smtp', (socket) => endlessly(socket, '220 '), /more than 65536 bytes in one reply/],
  [
    'reply',
    'smtp',
    (socket) => {
      socket.write('220 hello\r\n')
      afterHello('', '250-HELP\r\n'.repeat(140))(socket)
    },
    /more than 65536 bytes in one reply/,
  ],
]

describe('a peer that sends an endless unit in small pieces', () => {
  for (const [what, kind, act, detail] of ENDLESS)
    test(`${kind}: a ${what} without an end fails the attempt with its reason, and the socket is gone`, async (t) => {
      const links = aPool(t)
      const peer = await aHostilePeer(t, act)
      const fails = async (): Promise<void> => {
        const result = await send(links, { kind, peer })
        assert.equal(result.kind === 'failure' && result.code, 'response_too_large', JSON.stringify(result))
        assert.match(result.kind === 'failure' ? result.detail : '', detail)
        await until(() => peer.counts.open === 0)
      }
      // The first attempt of a kind loads its driver.
      await fails()
      assert.deepEqual([peer.counts.made, links.stats()], [1, { links: 0, inFlight: 0 }])
      assert.ok(peer.counts.taken <= TAKEN_BYTES_MAX, `${peer.counts.taken} bytes were read`)
      await assertShortTurns(fails)
      assert.deepEqual(links.stats(), { links: 0, inFlight: 0 })
    })
})

/** A byte now and then: a timeout that starts again with each byte never ends. */
const slowly =
  (head: string | Buffer): Act =>
  (socket) =>
    void socket.once('data', () => trickle(socket, head, 'a'))

describe('a peer that sends a unit byte by byte and does not end it', () => {
  for (const [what, kind, act] of [
    ['greeting', 'nats', (socket: Socket) => trickle(socket, 'INFO {', 'a')],
    ['reply', 'nats', natsAnswering((socket) => trickle(socket, 'MSG foo 1 9999\r\n{', 'a'))],
    ['text', 'redis_stream', slowly('$9999\r\nab')],
    [
      'row',
      'postgres',
      inTurn(
        (socket) => socket.write(PG_READY),
        (socket) => trickle(socket, pgMessage('D', '', 9_999), 'a'),
      ),
    ],
    ['frame', 'amqp', slowly(Buffer.from([1, 0, 0, 0, 0, 99, 99, 1]))],
    ['reply', 'kafka', slowly(Buffer.from([0, 0, 99, 99, 1]))],
    ['reply', 'smtp', (socket: Socket) => trickle(socket, '220-', 'a')],
  ] as const)
    test(`${kind}: the attempt ends at its timeout, and a ${what} under way ends with its socket`, async (t) => {
      const links = aPool(t)
      const peer = await aHostilePeer(t, act)
      const result = await send(links, { kind, peer, timeoutMs: LIMITS.deliveryTimeoutMsMin })
      assert.equal(result.kind === 'failure' && result.code, 'timeout', JSON.stringify(result))
      await until(() => peer.counts.open === 0)
      assert.deepEqual(links.stats(), { links: 0, inFlight: 0 })
    })
})

const NONSENSE: Readonly<Record<Kind, readonly Act[]>> = {
  amqp: [
    afterHello('HTTP/1.1 400 Bad Request\r\n\r\n', '\r\n'),
    inTurn((socket) => socket.write(Buffer.from([1, 0, 0, 0, 0, 0, 2, 1, 2, 3]))),
  ],
  kafka: [inTurn((socket) => socket.write(Buffer.from([0, 0, 0, 4, 9, 9, 9, 9])))],
  nats: [(socket) => socket.write('INFO nonsense\r\n'), natsAnswering((socket) => socket.write('MSG foo 1 x\r\n'))],
  postgres: [
    inTurn((socket) => socket.write(pgMessage('D', [0, 5, 0, 0, 0, 9, 1]))),
    inTurn((socket) => socket.write(pgMessage('R', [0, 0, 0, 99]))),
    inTurn(
      (socket) => socket.write(PG_READY),
      (socket) => socket.write(pgMessage('T', [0, 9, 1])),
    ),
  ],
  redis_stream: [inTurn((socket) => socket.write('nonsense\r\n')), inTurn((socket) => socket.write('*2000000000\r\n'))],
  smtp: [(socket) => socket.write('nonsense\r\n'), inTurn((socket) => socket.write('250 too early\r\n'))],
}

describe('a peer that sends nonsense', () => {
  for (const [kind, acts] of Object.entries(NONSENSE) as [Kind, readonly Act[]][])
    test(`${kind}: the attempt fails, and the process goes on`, async (t) => {
      const links = aPool(t)
      for (const act of acts) {
        const peer = await aHostilePeer(t, act)
        const result = await send(links, { kind, peer, timeoutMs: LIMITS.deliveryTimeoutMsMin })
        assert.equal(result.kind, 'failure')
        links.cut([kind])
        await until(() => peer.counts.open === 0)
      }
    })
})

for (const [how, end, detail] of [
  ['the deletion of the destination', (links: Links) => links.cut(['redis_stream']), /^The destination was deleted\.$/],
  ['the end of the process', (links: Links) => links.close(), /^The server is shutting down\.$/],
] as const) {
  test(`${how} ends an attempt under way and its socket immediately`, async (t) => {
    const links = aPool(t)
    const peer = await aHostilePeer(t, () => undefined)
    const sending = send(links, { kind: 'redis_stream', peer })
    await until(() => peer.counts.open === 1)
    end(links)
    const result = await sending
    assert.deepEqual([result.kind, result.kind === 'failure' && result.code], ['failure', 'connection_reset'])
    assert.match(result.kind === 'failure' ? result.detail : '', detail)
    await until(() => peer.counts.open === 0)
  })
}

test('a pause of the destination ends its idle connection', async (t) => {
  const links = aPool(t)
  const peer = await aHostilePeer(t, (socket) =>
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('SETNAME')) socket.write('+OK\r\n')
      if (chunk.includes('XADD')) socket.write('$3\r\n1-0\r\n')
    }),
  )
  assert.equal((await send(links, { kind: 'redis_stream', peer })).kind, 'accepted')
  assert.equal(peer.counts.open, 1)
  links.retire(['redis_stream'])
  await until(() => peer.counts.open === 0)
})
