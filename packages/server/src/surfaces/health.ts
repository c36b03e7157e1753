import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../context.ts'
import { errorBody, refuse } from '../domain/refusal.ts'
import { databaseNow } from '../platform/server-facts.ts'
import { metricsText, type Counters, type Gauge } from './metrics.ts'

export type Health = {
  readonly counters: Counters
  readonly gauges: () => readonly Gauge[]
}

/** `/healthz`: alive, without the database. `/readyz`: the database answers. `/metrics`: Prometheus text. */
export function mountHealth(fastify: FastifyInstance, deps: Deps, { counters, gauges }: Health): void {
  fastify.get('/healthz', () => ({ status: 'ok' }))
  fastify.get('/readyz', async (_request, reply) => {
    try {
      await databaseNow(deps.database)
      return { status: 'ready' }
    } catch {
      const refusal = refuse('overloaded', 'The database does not answer.')
      return reply.status(refusal.status).send(errorBody(refusal))
    }
  })
  fastify.get('/metrics', (request, reply) => {
    if (!mayReadMetrics(deps, request)) return refuseMetrics(reply)
    return reply.type('text/plain; version=0.0.4').send(metricsText(counters, gauges()))
  })
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/

function mayReadMetrics({ config }: Deps, request: FastifyRequest): boolean {
  const token = config.METRICS_TOKEN?.reveal()
  if (token !== undefined) return request.headers.authorization === `Bearer ${token}`
  return LOOPBACK.test(request.socket.remoteAddress ?? '')
}

function refuseMetrics(reply: FastifyReply): FastifyReply {
  const refusal = refuse('unauthorized', 'Metrics are read from this machine, or with METRICS_TOKEN as "Authorization: Bearer …".')
  return reply.status(refusal.status).send(errorBody(refusal))
}
