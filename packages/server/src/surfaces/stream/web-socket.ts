import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { CLOSE_CODES, type CloseReason } from '@postroad/contract'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Handler } from '../http.ts'
import { messageText } from './frame.ts'
import { LINGER_MS, type Wire } from './wire.ts'

const MESSAGE_BYTES_MAX = 65_536

/** A request for a WebSocket passes the same checks as every other one, with a response that can still become a WebSocket. */
export type Upgrades = {
  /** Passes a request for a WebSocket to the route. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Whether this request asked for a WebSocket. */
  asked(request: IncomingMessage): boolean
  /** Answers 101. From then on the connection belongs to this wire. */
  open(request: IncomingMessage, headers: Readonly<Record<string, string>>): Promise<Wire>
}

type Asked = { readonly socket: Duplex; readonly head: Buffer; readonly response: ServerResponse }

export function createUpgrades(route: Handler): Upgrades {
  const asked = new WeakMap<IncomingMessage, Asked>()
  const extra = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>()
  const sockets = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: MESSAGE_BYTES_MAX })
  sockets.on('headers', (lines, request) => {
    for (const [name, value] of Object.entries(extra.get(request) ?? {})) lines.push(`${name}: ${value}`)
  })
  return {
    // oxlint-disable-next-line max-params -- the listener of an upgrade
    take: (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server upgrades TCP sockets
      response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
      response.on('finish', () => socket.end())
      asked.set(request, { socket, head, response })
      route(request, response)
    },
    asked: (request) => asked.has(request),
    open: (request, headers) =>
      new Promise((resolve, reject) => {
        const upgrade = asked.get(request)
        if (upgrade === undefined) return reject(new Error('This request did not ask for a WebSocket.'))
        const { socket, head, response } = upgrade
        if (socket.destroyed) return reject(new Error('The client has disconnected.'))
        socket.once('close', () => reject(new Error('The client has disconnected, or its handshake is not valid.')))
        extra.set(request, headers)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
        response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
        sockets.handleUpgrade(request, socket, head, (opened) => resolve(wireOf(opened, socket)))
      }),
  }
}

function wireOf(opened: WebSocket, socket: Duplex): Wire {
  const gone = new AbortController()
  let answered = true
  let flushed: Promise<void> = Promise.resolve()
  opened.on('close', () => gone.abort())
  opened.on('error', () => opened.terminate())
  opened.on('pong', () => {
    answered = true
  })
  return {
    dialect: 'web_socket',
    gone: gone.signal,
    backlogBytes: () => opened.bufferedAmount,
    write: (parcel) => {
      const last = parcel.at(-1)
      flushed = new Promise((resolve) => {
        for (const bytes of parcel) opened.send(bytes, { binary: false }, bytes === last ? () => resolve() : undefined)
        if (last === undefined) resolve()
      })
    },
    flushed: () => flushed,
    beat: () => {
      if (!answered) return opened.terminate()
      answered = false
      opened.ping()
    },
    close: (reason: CloseReason) => {
      opened.send(messageText({ type: 'closing', cursor: undefined, json: JSON.stringify({ reason }) }))
      opened.close(CLOSE_CODES[reason], reason)
      if ('setTimeout' in socket && typeof socket.setTimeout === 'function')
        socket.setTimeout(LINGER_MS, () => opened.terminate())
    },
  }
}
