import { createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { listening } from './outbound-door.ts'

/** Servers that speak the start of a protocol, and then abuse it. */

const PIECE = Buffer.alloc(1_400, 'a')
/** A peer that nobody cuts off ends its attack by itself. */
const ATTACK_BYTES_MAX = 64 * 1_048_576
/** The peer and the one that it attacks share a loop. */
const PIECES_AT_ONCE = 50

/** Sends `head`, and then the same small piece without an end, for as long as the socket lives. */
export function endlessly(socket: Socket, head: string | Buffer, piece: string | Buffer = PIECE): void {
  socket.setNoDelay(true)
  socket.write(head)
  const more = (): void => {
    let free = true
    for (let n = 0; n < PIECES_AT_ONCE && free && socket.bytesWritten < ATTACK_BYTES_MAX; n += 1)
      free = !socket.destroyed && socket.write(piece)
    if (socket.destroyed || socket.bytesWritten >= ATTACK_BYTES_MAX) return
    if (free) setImmediate(more)
    else socket.once('drain', () => setImmediate(more))
  }
  setImmediate(more)
}

/** Calls one function after another, each when the client has sent something more. The last one is called again. */
export const inTurn =
  (...acts: readonly ((socket: Socket) => unknown)[]) =>
  (socket: Socket): void => {
    let said = 0
    socket.on('data', () => void acts[Math.min(said++, acts.length - 1)]?.(socket))
  }

export type HostilePeer = {
  readonly port: number
  /** The connections so far, those that are open, and the most bytes that one of them took. */
  readonly counts: { made: number; open: number; taken: number }
}

/** A connection reads at most 5 MiB of an answer; the rest is in the buffers of the system. */
export const TAKEN_BYTES_MAX = 24 * 1_048_576

/** A server that does this with every connection. */
export async function aHostilePeer(t: TestContext, act: (socket: Socket) => void): Promise<HostilePeer> {
  const counts = { made: 0, open: 0, taken: 0 }
  const server = createServer((socket) => {
    counts.made += 1
    counts.open += 1
    socket.on('close', () => {
      counts.open -= 1
      counts.taken = Math.max(counts.taken, socket.bytesWritten - socket.writableLength)
    })
    socket.resume()
    act(socket)
  })
  return { port: await listening(t, server), counts }
}

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))

/** A message of PostgreSQL. `length` is the one that it announces. */
export function pgMessage(type: string, body: string | readonly number[] = '', length?: number): Buffer {
  const message = bytes(`${type}\0\0\0\0`, body)
  message.writeUInt32BE(length ?? message.length - 1, 1)
  return message
}
export const PG_READY = Buffer.concat([pgMessage('R', [0, 0, 0, 0]), pgMessage('Z', 'I')])
export const PG_DONE = Buffer.concat([pgMessage('C', 'SET\0'), pgMessage('Z', 'I')])

const NATS_INFO = 'INFO {"server_id":"A","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576}\r\n'

/** A peer of NATS that answers a publication with this. */
export function natsAnswering(act: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    socket.write(NATS_INFO)
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('PING')) socket.write('PONG\r\n')
      if (chunk.includes('HPUB')) act(socket)
    })
  }
}

/** The greeting of MySQL 8, without TLS. */
export const MYSQL_GREETING = ((): Buffer => {
  const body = bytes(
    [10],
    '8.0.0\0',
    [1, 0, 0, 0],
    '12345678',
    [0, 0xff, 0xf7, 45, 2, 0, 0xff, 0xc1, 21],
    '\0'.repeat(10),
    '123456789012\0',
    'mysql_native_password\0',
  )
  return bytes([body.length, 0, 0, 0], [...body])
})()
export const MYSQL_OK = Buffer.from([7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0])
