import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../domain/refusal.ts'

const RESERVE_SHARE = 10

/** Whether fewer connections are free than the tenth of CONNECTIONS_MAX that is reserved for ingest and health. */
export function createReserve(server: Server, connectionsMax: number): () => boolean {
  const sharedMax = connectionsMax - Math.floor(connectionsMax / RESERVE_SHARE)
  let open = 0
  server.on('connection', (socket) => {
    open += 1
    socket.once('close', () => (open -= 1))
  })
  return () => open > sharedMax
}

/**
 * While the reserve is in use, every request behind the router gets 503 `overloaded`, and its connection ends with the response. So
 * clients of streams and of the API cannot keep senders out.
 */
export function keepReserve(router: FastifyInstance, isInUse: () => boolean): void {
  router.addHook('onRequest', async (_request, reply) => {
    if (!isInUse()) return
    reply.header('Connection', 'close')
    throw new Refusal('overloaded', { text: TOO_MANY, fields: { retry_after: 1 } })
  })
}

const TOO_MANY =
  'This server has too many open connections, and reserves the remaining ones for events. Try again in a moment.'
