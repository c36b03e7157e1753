import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../context.ts'
import { errorBody, refuse } from '../domain/refusal.ts'
import { hashCredential } from '../platform/cipher.ts'
import { databaseNow } from '../platform/server-facts.ts'
import { metricsText, type Counters, type Gauge } from './metrics.ts'

export type Health = {
  readonly counters: Counters
  readonly gauges: () => readonly Gauge[]
  readonly isOwnMachine: (request: IncomingMessage) => boolean
  readonly stalled: () => { readonly call: string; readonly since: number } | undefined
}

/**
 * `/healthz`: the process is alive, without the database. `/readyz`: the database answers, deliveries move, and
 * workflows run. `/metrics`: Prometheus text.
 */
export function mountHealth(
  fastify: FastifyInstance,
  deps: Deps,
  { counters, gauges, stalled, isOwnMachine }: Health,
): void {
  fastify.get('/healthz', () => ({ status: 'ok' }))
  fastify.get('/readyz', async (_request, reply) => {
    try {
      await databaseNow(deps.database)
    } catch {
      return notReady(reply, 'The database does not respond.')
    }
    const waiting = stalled()
    if (waiting !== undefined) return notReady(reply, stallText(waiting))
    return runsWorkflows(deps) ? { status: 'ready' } : notReady(reply, NO_WORKFLOWS)
  })
  fastify.get('/metrics', (request, reply) => {
    if (!mayReadMetrics(deps, { request, isOwnMachine })) return refuseMetrics(reply)
    return reply.type('text/plain; version=0.0.4').send(metricsText(counters, gauges()))
  })
}

const FAILING_MS = 30_000
const NO_WORKFLOWS =
  'The workflow loop of this process has failed for more than 30 seconds. Look for "workflows.run_failed" in its log.'

function runsWorkflows({ clock, loopRuns }: Deps): boolean {
  const run = loopRuns.list().find(({ name }) => name === 'workflows.run')
  return run === undefined || !run.failing || clock.now() - (run.lastRunAt ?? 0) <= FAILING_MS
}

function notReady(reply: FastifyReply, why: string): FastifyReply {
  const refusal = refuse('overloaded', why)
  return reply.status(refusal.status).send(errorBody(refusal))
}

function stallText({ call, since }: { readonly call: string; readonly since: number }): string {
  const sinceText = new Date(since).toISOString()
  return `The delivery loop of this process has completed no ${call} since ${sinceText}. Look for "delivery.${call}_failed" in its log.`
}

/** With METRICS_TOKEN, everyone who sends it may read. Without it, only requests made on this machine may. */
function mayReadMetrics({ config }: Deps, { request, isOwnMachine }: Asking): boolean {
  const token = config.METRICS_TOKEN?.reveal()
  if (token === undefined) return isOwnMachine(request.raw)
  return timingSafeEqual(hashCredential(request.headers.authorization ?? ''), hashCredential(`Bearer ${token}`))
}

type Asking = { readonly request: FastifyRequest; readonly isOwnMachine: Health['isOwnMachine'] }

function refuseMetrics(reply: FastifyReply): FastifyReply {
  const refusal = refuse(
    'unauthorized',
    'Only requests from this machine, to localhost and not through a proxy, can read the metrics. To read them from elsewhere, set METRICS_TOKEN and send it as "Authorization: Bearer …".',
  )
  return reply.status(refusal.status).send(errorBody(refusal))
}
