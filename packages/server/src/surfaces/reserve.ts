import type { FastifyInstance } from 'fastify'
import { Refusal } from '../domain/refusal.ts'

/** Ingest answers before the router. Monitors and load balancers must learn that the process is alive. */
const ALWAYS_ANSWERED = /^\/(?:healthz|readyz|metrics)(?:[?/]|$)/
const RESERVE_SHARE = 10

/**
 * Reserves a tenth of CONNECTIONS_MAX for ingest and health. While fewer connections are free, every other request gets 503
 * `overloaded`, and its connection ends with the response. So clients of streams and of the API cannot keep senders out.
 */
export function keepReserve(router: FastifyInstance, connectionsMax: number): void {
  const sharedMax = connectionsMax - Math.floor(connectionsMax / RESERVE_SHARE)
  let open = 0
  router.server.on('connection', (socket) => {
    open += 1
    socket.once('close', () => (open -= 1))
  })
  router.addHook('onRequest', async (request, reply) => {
    if (open <= sharedMax || ALWAYS_ANSWERED.test(request.url)) return
    reply.header('Connection', 'close')
    throw new Refusal('overloaded', { text: TOO_MANY, fields: { retry_after: 1 } })
  })
}

const TOO_MANY =
  'This server has too many open connections, and reserves the remaining ones for events. Try again in a moment.'
