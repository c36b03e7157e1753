import { createServer, type AddressInfo, type Socket } from 'node:net'
import { endlessly, inTurn, natsAnswering, pgMessage, PG_READY } from '../../test/stage/hostile-peers.ts'

type Act = (socket: Socket) => void
const afterHello =
  (head: string | Buffer): Act =>
  (socket) =>
    void socket.once('data', () => endlessly(socket, head))
const TOO_LONG = 0x7f_ff_ff_ff

const SSE_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: '

/** Servers that send something without an end, each in the way of its protocol. `slow` never answers. */
const PEERS = {
  'nats greeting': (socket) => endlessly(socket, 'INFO {'),
  'nats message': natsAnswering((socket) => endlessly(socket, 'MSG foo 1 2000000000\r\n')),
  'redis text': afterHello('$2000000000\r\n'),
  'redis line': afterHello('-'),
  'postgres row': inTurn(
    (socket) => socket.write(PG_READY),
    (socket) => endlessly(socket, pgMessage('D', '', TOO_LONG - 15)),
  ),
  'kafka response': afterHello(Buffer.from([0x7f, 0xff, 0xff, 0xff])),
  'amqp frame': afterHello(Buffer.from([1, 0, 0, 0x7f, 0xff, 0xff, 0xff])),
  'sse event': afterHello(SSE_HEAD),
  slow: () => undefined,
} as const satisfies Readonly<Record<string, Act>>

export type PeerName = keyof typeof PEERS

/** The most bytes that one connection took from each peer since the last question. */
const taken = new Map<string, number>()

export function takenBytes(): Readonly<Record<string, number>> {
  const all = Object.fromEntries(taken)
  taken.clear()
  return all
}

/** Starts all of them. They end with their process. */
export async function openPeers(): Promise<Readonly<Record<PeerName, number>>> {
  const opened = await Promise.all(
    Object.entries(PEERS).map(async ([name, act]) => [name, await listening(name, act)] as const),
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names are those of the peers
  return Object.fromEntries(opened) as Record<PeerName, number>
}

// oxlint-disable-next-line max-params -- the peer, by its name
function listening(name: string, act: Act): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('close', () => {
      taken.set(name, Math.max(taken.get(name) ?? 0, socket.bytesWritten - socket.writableLength))
    })
    socket.resume()
    act(socket)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
      resolve((server.address() as AddressInfo).port)
    })
  })
}
