import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createOutboundHttp } from '../../src/platform/outbound-http.ts'
import type {
  OutboundFailure,
  OutboundOptions,
  OutboundRequest,
  OutboundResponse,
} from '../../src/platform/outbound-http.ts'
import type { Resolution, Resolver } from '../../src/platform/resolver.ts'

/** The door for outgoing requests, and servers below HTTP that it calls. */

const LOOPBACK = ['127.0.0.0/8', '::1/128']
export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

type Said = { readonly kind: string } & Partial<Omit<OutboundResponse, 'kind'> & Omit<OutboundFailure, 'kind'>>

/** A door that closes when the test ends, with short deadlines; its answers have one loose type. */
export function aDoor(t: TestContext, options: Partial<OutboundOptions> = {}) {
  const door = createOutboundHttp({ allow: LOOPBACK, ...options })
  t.after(() => door.close())
  const ask = async (url: string, more: Partial<OutboundRequest> = {}): Promise<Said> =>
    await door.request({ url, headers: {}, body: '{}', timeoutMs: 5_000, ...more })
  return { ask, stats: door.stats, close: door.close }
}

export async function listening(t: TestContext, server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- listening on TCP
  return (server.address() as AddressInfo).port
}

/**
 * A server below HTTP: `onRequest` gets the socket when a request has arrived, and the number of earlier requests on
 * it.
 */
export async function aSink(t: TestContext, onRequest: (socket: Socket, nth: number) => void) {
  const seen = { sockets: 0, requests: 0, text: '' }
  const server = createServer((socket) => {
    seen.sockets += 1
    let nth = 0
    socket.on('data', (chunk) => {
      seen.text += chunk.toString()
      if (!chunk.toString().includes('\r\n\r\n')) return
      seen.requests += 1
      onRequest(socket, nth++)
    })
  })
  return { port: await listening(t, server), seen }
}

export async function anHttpServer(t: TestContext, listener: RequestListener): Promise<number> {
  return await listening(t, createHttpServer(listener))
}

export function resolverSaying(...resolutions: Resolution[]): Resolver {
  let asked = 0
  return {
    resolve: async () => resolutions[asked++ % resolutions.length] ?? { kind: 'failure', detail: 'Nothing.' },
    close: () => undefined,
  }
}

export const dns = (...addresses: string[]): Resolution => ({ kind: 'addresses', source: 'dns', addresses })

export async function until(met: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!met()) {
    assert.ok(performance.now() < deadline, 'never happened')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Sends `head`, and then one byte every 100 ms for as long as the socket lives. */
export function trickle(socket: Socket, head: string | Buffer, drop: string): void {
  if (head.length > 0) socket.write(head)
  const timer = setInterval(() => socket.write(drop), 100)
  socket.on('close', () => clearInterval(timer))
}
