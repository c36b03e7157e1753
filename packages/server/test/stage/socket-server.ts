import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'

/** A WebSocket server of the test on a free port. */
export type SocketServer = {
  readonly url: string
  /** The connections that are open. */
  readonly open: Set<WebSocket>
  readonly requests: IncomingMessage[]
  /** The texts that clients sent. */
  readonly heard: string[]
  readonly pings: () => number
  /** The codes with which clients closed. */
  readonly closed: number[]
  /** Sends to every open connection. */
  send(data: string | Buffer): void
  stop(): Promise<void>
}

export async function aSocketServer(): Promise<SocketServer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  const open = new Set<WebSocket>()
  const requests: IncomingMessage[] = []
  const heard: string[] = []
  const closed: number[] = []
  let pings = 0
  server.on('connection', (socket, request) => {
    open.add(socket)
    requests.push(request)
    socket.on('message', (data: Buffer) => heard.push(data.toString()))
    socket.on('ping', () => {
      pings += 1
    })
    socket.on('close', (code) => {
      open.delete(socket)
      closed.push(code)
    })
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/feed`,
    open,
    requests,
    heard,
    closed,
    pings: () => pings,
    send: (data) => {
      for (const socket of open) socket.send(data)
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.terminate()
        server.close(() => resolve())
      }),
  }
}
