import type { IncomingMessage, ServerResponse } from 'node:http'
import { encodeId, REASONS, type ErrorBody } from '@postroad/contract'
import { accept, asksQuestion, type Road } from '../../pipeline/accept.ts'
import { fromRequest } from '../../pipeline/capture/from-request.ts'
import {
  acceptanceOf,
  type Acceptance,
  type Address,
  type Asked,
  type Captured,
  type Rejected,
  type Routed,
} from '../../pipeline/types.ts'
import { requestIdFor } from '../../domain/capture/request-id.ts'
import { DbError } from '../../platform/db.ts'
import { HeavyError } from '../../platform/heavy/heavy.ts'
import { OF_FAULT } from '../overloaded.ts'
import { newRequestId, newRequestMark, type Handler } from '../http.ts'
import type { Counters } from '../metrics.ts'
import { ownResponse, sendAnswered, sendOwn, shareWith } from './answered.ts'
import { askedOf } from './asked.ts'

export type IngestOptions = {
  readonly road: Road
  readonly sourceIp: (request: IncomingMessage) => string | undefined
  readonly counters: Counters
  /** Answers the requests that are not for ingest. */
  readonly otherwise: Handler
}

/**
 * The four POST forms of ingest on the bare listener, with the questions that senders and browsers ask first. There is no router and no
 * schema library, and only the read of the body and the commit are asynchronous. Every other request goes to `otherwise`.
 */
export function createIngestHandler(options: IngestOptions): Handler {
  return (request, response) => {
    const asked = askedOf(request)
    if (asked === undefined) options.otherwise(request, response)
    else if (asked.asked.kind === 'handshake' && !asked.asked.isHub)
      void serveQuestion(options, { ...asked, request, response })
    else void serve(options, { ...asked, request, response })
  }
}

type Exchange = {
  readonly address: Address
  readonly asked: Asked
  readonly request: IncomingMessage
  readonly response: ServerResponse
}
type Answer = {
  readonly requestId: string
  readonly status: number
  readonly json: string
  readonly retryAfterSeconds?: number | undefined
}

async function serve(options: IngestOptions, exchange: Exchange): Promise<void> {
  const { road, counters } = options
  const { request, response } = exchange
  try {
    const result = await accept(road, capturedOf(options, exchange))
    if (result.kind === 'stored') {
      counters.accepted += 1
      if (result.event.verified.receiver.plan.limits.deliveries_per_month !== null)
        counters.beyondAllowance += waitingOf(result.event)
      const requestId = requestIdFor(result.event.submissionId)
      const own = ownResponse(request, result.event.verified.receiver.webhook?.response)
      if (own !== undefined) sendOwn(response, { requestId, own })
      else send(response, { requestId, status: 201, json: acceptedJson(acceptanceOf(result.event), false) })
    } else if (result.kind === 'duplicate') {
      counters.duplicates += 1
      const requestId = requestIdFor(result.answer.submissionId, newRequestMark())
      const own = ownResponse(request, result.response)
      if (own !== undefined) sendOwn(response, { requestId, own })
      else send(response, { requestId, status: 200, json: acceptedJson(result.answer, true) })
    } else if (result.kind === 'answered') {
      sendAnswered(response, { requestId: newRequestId(), answered: result })
    } else {
      counters.reject(result.reason)
      send(response, refusal(refusedId(result), result))
    }
  } catch (error) {
    const requestId = newRequestId()
    const rejected = rejectedFor(error)
    // While the database is away, every request is refused, and one line a minute reports it.
    if (rejected.reason === 'internal') road.log.error('ingest.failed', { request_id: requestId, cause: error })
    else road.retryLog.warn('ingest.refused', { request_id: requestId, reason: rejected.reason, cause: error })
    counters.reject(rejected.reason)
    send(response, refusal(requestId, rejected))
  }
}

function capturedOf(options: IngestOptions, { address, asked, request, response }: Exchange): Captured {
  const receivedAt = Math.floor(options.road.clock.now())
  const share = (origin: string): void => shareWith(response, origin)
  return fromRequest(request, { address, asked, sourceIp: options.sourceIp(request), receivedAt, shareWith: share })
}

/**
 * A GET that no endpoint answers gets the page that it would get otherwise. So does every GET while the database is away, because then
 * no question can be recognized.
 */
async function serveQuestion(options: IngestOptions, exchange: Exchange): Promise<void> {
  const { road } = options
  let asks = false
  try {
    asks = await asksQuestion(road, capturedOf(options, exchange))
  } catch (error) {
    road.retryLog.warn('handshake.unread', { cause: error })
  }
  if (asks) await serve(options, exchange)
  else options.otherwise(exchange.request, exchange.response)
}

/** The request id of a logged refusal contains the id of its rejection. */
const refusedId = ({ rejectionId }: Rejected): string =>
  rejectionId === undefined ? newRequestId() : requestIdFor(rejectionId, newRequestMark())

const waitingOf = ({ deliveries }: Routed): number =>
  deliveries.filter(({ pauseReason }) => pauseReason === 'allowance_used').length

/** The commit returns its failures, so an exception comes from before the commit: nothing is stored. */
function rejectedFor(error: unknown): Rejected {
  if (error instanceof HeavyError) return { kind: 'rejected', ...OF_FAULT[error.fault] }
  const away = error instanceof DbError && error.unavailable
  return away
    ? { kind: 'rejected', reason: 'storage_unavailable', retryAfterSeconds: 1 }
    : { kind: 'rejected', reason: 'internal' }
}

function refusal(requestId: string, rejected: Rejected): Answer {
  const { status, text } = REASONS[rejected.reason]
  const body: ErrorBody = {
    error: rejected.text ?? text,
    reason: rejected.reason,
    ...(rejected.scheme === undefined ? {} : { scheme: rejected.scheme }),
    ...(rejected.retryAfterSeconds === undefined ? {} : { retry_after: rejected.retryAfterSeconds }),
    ...(rejected.upgradeUrl === undefined ? {} : { upgrade_url: rejected.upgradeUrl }),
  }
  return { requestId, status, json: JSON.stringify(body), retryAfterSeconds: rejected.retryAfterSeconds }
}

/** All headers in one list: Node writes a list as it is, but builds a table of headers that are set one by one. */
function send(response: ServerResponse, { requestId, status, json, retryAfterSeconds }: Answer): void {
  if (response.headersSent || response.destroyed) return
  const headers = [
    'Request-Id',
    requestId,
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(json)),
  ]
  if (retryAfterSeconds !== undefined) headers.push('Retry-After', String(retryAfterSeconds))
  response.writeHead(status, headers)
  response.end(json)
}

/** Decisions §4: the body of a 201, and of the 200 of a repeat, in its fixed order. Ids, dates and dataset names need no escapes in JSON. */
function acceptedJson(of: Acceptance, duplicate: boolean): string {
  const dataset = of.dataset === null ? 'null' : `"${of.dataset}"`
  const receivedAt = new Date(of.receivedAt).toISOString()
  const records = of.records
    .map((record) => `{"id":"${encodeId('record', record.id)}","dataset":"${record.dataset}"}`)
    .join(',')
  const routed = of.routed === undefined ? '' : `,"routed":${JSON.stringify(of.routed)}`
  const id = encodeId('submission', of.submissionId)
  return `{"id":"${id}","status":"accepted","dataset":${dataset},"received_at":"${receivedAt}","duplicate":${duplicate},"records":[${records}]${routed}}`
}
