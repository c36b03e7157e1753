import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Deps } from '../context.ts'
import { errorBody, refuse, type Refusal } from '../domain/refusal.ts'
import { hashCredential } from '../platform/cipher.ts'
import { newRequestId, type Handler } from './http.ts'
import { metricsText, type Counters, type Gauge } from './metrics.ts'

export type HealthParts = {
  readonly deps: Deps
  /** Rejects at once while the database is away. */
  readonly askDatabase: () => Promise<unknown>
  readonly counters: Counters
  readonly gauges: () => readonly Gauge[]
  readonly isOwnMachine: (request: IncomingMessage) => boolean
  readonly stalled: () => { readonly call: string; readonly since: number } | undefined
}

type Answer = { readonly status: number; readonly type: string; readonly text: string }

/**
 * `/healthz`: the process is alive, without the database. `/readyz`: the database answers, deliveries move, and workflows run.
 * `/metrics`: Prometheus text. They answer before the router, so a probe does not load it.
 */
export function createHealthHandler(parts: HealthParts, otherwise: Handler): Handler {
  return (request, response) => {
    const path = healthPath(request.method, request.url)
    if (path === undefined) otherwise(request, response)
    else void send(parts, { path, request, response })
  }
}

/** Whether a request with this method and path, without its query, is answered here. */
export function isHealth(method: string | undefined, path: string): boolean {
  return healthPath(method, path) !== undefined
}

const HEALTH = /^(\/healthz|\/readyz|\/metrics)\/?(?:\?|$)/

/** A slash at the end makes no difference, here as behind the router. */
function healthPath(method: string | undefined, url = ''): string | undefined {
  return method === 'GET' || method === 'HEAD' ? HEALTH.exec(url)?.[1] : undefined
}

type Asked = { readonly path: string; readonly request: IncomingMessage; readonly response: ServerResponse }

async function send(parts: HealthParts, { path, request, response }: Asked): Promise<void> {
  const requestId = newRequestId()
  const { status, type, text } = await answerTo(parts, path, request).catch((cause: unknown) => {
    parts.deps.log.error('request.failed', { request_id: requestId, method: request.method, route: path, cause })
    return refused(refuse('internal'))
  })
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Request-Id': requestId,
    ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
  })
  response.end(text)
}

async function answerTo(parts: HealthParts, path: string, request: IncomingMessage): Promise<Answer> {
  if (path === '/readyz') return readiness(parts)
  if (path === '/healthz') return json(200, { status: 'ok' })
  if (!mayReadMetrics(parts, request)) return refused(refuse('unauthorized', METRICS_REMEDY))
  return { status: 200, type: 'text/plain; version=0.0.4', text: metricsText(parts.counters, parts.gauges()) }
}

async function readiness({ deps, askDatabase, stalled }: HealthParts): Promise<Answer> {
  try {
    await askDatabase()
  } catch {
    return refused(refuse('overloaded', 'The database does not respond.'))
  }
  const waiting = stalled()
  if (waiting !== undefined) return refused(refuse('overloaded', stallText(waiting)))
  return runsWorkflows(deps) ? json(200, { status: 'ready' }) : refused(refuse('overloaded', NO_WORKFLOWS))
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', text: JSON.stringify(body) }
}

function refused(refusal: Refusal): Answer {
  return json(refusal.status, errorBody(refusal))
}

const FAILING_MS = 30_000
const NO_WORKFLOWS =
  'The workflow loop of this process has failed for more than 30 seconds. Look for "workflows.run_failed" in its log.'

function runsWorkflows({ clock, loopRuns }: Deps): boolean {
  const run = loopRuns.list().find(({ name }) => name === 'workflows.run')
  return run === undefined || !run.failing || clock.now() - (run.lastRunAt ?? 0) <= FAILING_MS
}

function stallText({ call, since }: { readonly call: string; readonly since: number }): string {
  const sinceText = new Date(since).toISOString()
  return `The delivery loop of this process has completed no ${call} since ${sinceText}. Look for "delivery.${call}_failed" in its log.`
}

/** With METRICS_TOKEN, everyone who sends it may read. Without it, only requests made on this machine may. */
function mayReadMetrics({ deps, isOwnMachine }: HealthParts, request: IncomingMessage): boolean {
  const token = deps.config.METRICS_TOKEN?.reveal()
  if (token === undefined) return isOwnMachine(request)
  return timingSafeEqual(hashCredential(request.headers.authorization ?? ''), hashCredential(`Bearer ${token}`))
}

const METRICS_REMEDY =
  'Only requests from this machine, to localhost and not through a proxy, can read the metrics. To read them from elsewhere, set METRICS_TOKEN and send it as "Authorization: Bearer …".'
