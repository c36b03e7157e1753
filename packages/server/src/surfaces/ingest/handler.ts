import type { IncomingMessage, ServerResponse } from 'node:http'
import { encodeId, REASONS, type ErrorBody } from '@postroad/contract'
import { accept, type Road } from '../../pipeline/accept.ts'
import { fromRequest } from '../../pipeline/capture/from-request.ts'
import type { Address, Rejected, Stored } from '../../pipeline/types.ts'
import { newRequestId, type Handler } from '../http.ts'
import type { Counters } from '../metrics.ts'
import { addressOf } from './address.ts'

export type IngestOptions = {
  readonly road: Road
  readonly sourceIp: (request: IncomingMessage) => string | undefined
  readonly counters: Counters
  /** Whoever answers what is not ingest. */
  readonly otherwise: Handler
}

/**
 * The four POST forms of ingest on the bare listener: no router, no schema library, nothing asynchronous but reading
 * the body and the commit. Every other request goes on to `otherwise`.
 */
export function createIngestHandler(options: IngestOptions): Handler {
  return (request, response) => {
    const path = pathOf(request.url ?? '/')
    const address = request.method === 'POST' ? addressOf(path) : undefined
    if (address === undefined) options.otherwise(request, response)
    else void serve(options, { address, request, response })
  }
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

type Exchange = { readonly address: Address; readonly request: IncomingMessage; readonly response: ServerResponse }

async function serve(options: IngestOptions, { address, request, response }: Exchange): Promise<void> {
  const { road, counters } = options
  response.setHeader('Request-Id', newRequestId())
  try {
    const receivedAt = road.clock.now()
    const result = await accept(road, fromRequest(request, { address, sourceIp: options.sourceIp(request), receivedAt }))
    if (result.kind === 'stored') {
      counters.accepted += 1
      send(response, { status: 201, json: acceptedJson(result) })
    } else {
      counters.reject(result.reason)
      refuse(response, result)
    }
  } catch (error) {
    road.log.error('ingest.failed', { request_id: response.getHeader('Request-Id'), cause: error })
    counters.reject('internal')
    refuse(response, { kind: 'rejected', reason: 'internal' })
  }
}

function refuse(response: ServerResponse, rejected: Rejected): void {
  const { status, text } = REASONS[rejected.reason]
  const body: ErrorBody = {
    error: rejected.text ?? text,
    reason: rejected.reason,
    ...(rejected.scheme === undefined ? {} : { scheme: rejected.scheme }),
    ...(rejected.retryAfterSeconds === undefined ? {} : { retry_after: rejected.retryAfterSeconds }),
  }
  if (rejected.retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(rejected.retryAfterSeconds))
  send(response, { status, json: JSON.stringify(body) })
}

function send(response: ServerResponse, answer: { status: number; json: string }): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(answer.status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer.json) })
  response.end(answer.json)
}

/** Decisions §4: the 201 body, in its fixed order. */
function acceptedJson({ event }: Stored): string {
  return JSON.stringify({
    id: encodeId('submission', event.submissionId),
    status: 'accepted',
    dataset: event.dataset,
    received_at: new Date(event.verified.captured.receivedAt).toISOString(),
    duplicate: false,
    records: event.records.map((record) => ({ id: encodeId('record', record.id), dataset: record.dataset })),
    ...(event.routed === undefined ? {} : { routed: event.routed }),
  })
}
