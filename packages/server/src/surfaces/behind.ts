import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Reason } from '@postroad/contract'
import { errorBody, refuse } from '../domain/refusal.ts'
import { newRequestId, type Handler } from './http.ts'

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** The surfaces behind the router. */
export type Routed = {
  readonly route: Handler
  readonly upgrade: Upgrade
  /** Answers 503 to requests from now on. */
  close(): Promise<void>
}

/**
 * Loads the surfaces behind the router when the first request for one comes, which waits for them. A process that only takes
 * events or delivers them never pays for the rest. After a failure the next request tries again.
 */
export function createBehind(load: () => Promise<Routed>, onFailure: (cause: unknown) => void): Routed {
  let loading: Promise<Routed> | undefined
  let loaded: Routed | undefined
  let closed = false
  const get = (): Promise<Routed> =>
    (loading ??= load().then(
      (routed) => (loaded = routed),
      (cause: unknown) => {
        loading = undefined
        onFailure(cause)
        throw cause
      },
    ))
  return {
    route: (request, response) => {
      if (loaded !== undefined) loaded.route(request, response)
      else if (closed) sendRefusal(response, 'overloaded')
      else
        void get().then(
          (routed) => routed.route(request, response),
          () => sendRefusal(response, 'internal'),
        )
    },
    // oxlint-disable-next-line max-params -- the listener of an upgrade
    upgrade: (request, socket, head) => {
      if (loaded !== undefined) return loaded.upgrade(request, socket, head)
      socket.on('error', () => socket.destroy())
      if (closed) socket.destroy()
      else
        void get().then(
          (routed) => routed.upgrade(request, socket, head),
          () => socket.destroy(),
        )
    },
    close: async () => {
      closed = true
      await (await loading?.catch(() => undefined))?.close()
    },
  }
}

function sendRefusal(response: ServerResponse, reason: Reason): void {
  const refusal = refuse(reason)
  const json = JSON.stringify(errorBody(refusal))
  response.writeHead(refusal.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(json),
    'Request-Id': newRequestId(),
    Connection: 'close',
  })
  response.end(json)
}
