/** A thousand senders that never finish: a separate process, so that their cost does not affect the measured process. */
import { connect, type Socket } from 'node:net'
import { answer } from './child.ts'

export type Held = { readonly port: number; readonly path: string; readonly count: number }
export type SlowSendersVerbs = {
  /** Opens the connections, and replaces one that is cut, so that their number stays the same. */
  hold(held: Held): Promise<void>
  /** Closes all connections. Returns how many were cut meanwhile. */
  release(nothing: null): Promise<number>
}

const DRIP_MS = 1_000

const sockets = new Map<Socket, string>()
let cut = 0
let holding: Held | undefined

function beginning({ path }: Held, at: number): string {
  if (at % 2 === 0) return `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Slow: `
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{`
}

function open(held: Held, at: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port: held.port, host: '127.0.0.1' }, () => {
      socket.write(beginning(held, at))
      resolve()
    })
    sockets.set(socket, 'x')
    socket.on('error', () => resolve())
    socket.resume()
    socket.on('close', () => {
      sockets.delete(socket)
      if (holding !== held) return
      cut += 1
      void open(held, at)
    })
  })
}

async function hold(held: Held): Promise<void> {
  holding = held
  cut = 0
  await Promise.all(Array.from({ length: held.count }, (_none, at) => open(held, at)))
}

async function release(): Promise<number> {
  holding = undefined
  for (const socket of sockets.keys()) socket.destroy()
  return cut
}

// Sends a byte now and then: the senders are slow, not silent.
setInterval(() => {
  for (const [socket, drop] of sockets) if (socket.writable) socket.write(drop)
}, DRIP_MS).unref()

answer({ hold, release } satisfies SlowSendersVerbs)
