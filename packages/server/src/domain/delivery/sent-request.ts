import { hash } from 'node:crypto'
import { DELIVERY_HEADERS, encodeId, type SendMethod, type SentRequest } from '@postroad/contract'
import { withQuery } from '@postroad/contract/sent-again'
import { traceparentOf } from './trace-context.ts'

/**
 * The parts of its request that an attempt stores, and the request as it is shown. The columns of the attempt are not
 * stored twice.
 */
export type StoredRequest = {
  /** Absent: POST, with all headers of a delivery. */
  readonly method?: SendMethod
  /** The kind of the destination has no headers. */
  readonly bare?: true
  readonly url: string
  /** The headers that Postroad made and cannot derive again. */
  readonly headers: Readonly<Record<string, string>>
  /** The names of the headers whose values are write-only. */
  readonly hidden: readonly string[]
  /** The SHA-256 of the body, in base64url. */
  readonly sha256: string
  readonly bytes: number
  /** The form of the body, if it is neither the envelope nor a template. */
  readonly form?: NonNullable<SentRequest['body_form']>
  readonly reason?: NonNullable<SentRequest['body_reason']>
  /** The number of events in the request; absent: one. The body is that of one of them. */
  readonly batch?: number
  /** The trace id, in base64url; undefined: the attempt is older than traces. */
  readonly trace?: string
}

/** Replaces each write-only value. */
export const DOTS = '••••••••'
const EVENT_ID = DELIVERY_HEADERS.eventId.toLowerCase()
const DELIVERY_ID = DELIVERY_HEADERS.deliveryId.toLowerCase()
const ATTEMPT = DELIVERY_HEADERS.attempt.toLowerCase()
const DATASET = DELIVERY_HEADERS.dataset.toLowerCase()
const TRACEPARENT = 'traceparent'
const STANDARD_ID = 'webhook-id'
const DERIVED: ReadonlySet<string> = new Set([TRACEPARENT, EVENT_ID, DELIVERY_ID, ATTEMPT, DATASET])
/** Derived too, unless the request is the received one. */
const DERIVED_OF_OURS: ReadonlySet<string> = new Set(['content-type', STANDARD_ID])

type Made = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The headers whose values are write-only. */
  readonly own: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** Sent after the query string of the URL. */
  readonly query?: string
  readonly form: SentRequest['body_form']
  readonly reason: SentRequest['body_reason']
}

export function storedRequest({ url, headers, own, body, query = '', form, reason }: Made): StoredRequest {
  const hidden: string[] = []
  const made: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (DERIVED.has(lower) || (form !== 'as_received' && DERIVED_OF_OURS.has(lower))) continue
    if (Object.hasOwn(own, lower) || lower === 'authorization') hidden.push(lower)
    else made[lower] = value
  }
  const [, trace] = headers[TRACEPARENT]?.split('-') ?? []
  return {
    url: withQuery(url, query),
    headers: made,
    hidden,
    ...bodyFacts({ body, form, reason }),
    ...(trace === undefined ? {} : { trace: Buffer.from(trace, 'hex').toString('base64url') }),
  }
}

/** The same for an event whose destination does not get one HTTP request for each event. */
export function storedSend(
  made: Made,
  { method, hasHeaders }: { readonly method: SendMethod; readonly hasHeaders: boolean },
): StoredRequest {
  if (hasHeaders) return { method, ...storedRequest(made) }
  return {
    method,
    bare: true,
    url: made.url,
    headers: {},
    hidden: [],
    ...bodyFacts(made),
  }
}

type Part = Pick<Made, 'body' | 'form' | 'reason'> & { readonly id: string; readonly size: number }

/** The request of a batch as one of its events stores it: with its own part of the body. */
export function storedPart(request: string | null, { id, size, ...part }: Part): string | null {
  if (request === null) return null
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by storedRequest
  const { headers, ...whole } = JSON.parse(request) as StoredRequest
  const named = headers['webhook-signature'] === undefined ? {} : { [STANDARD_ID]: id }
  return JSON.stringify({ ...whole, headers: { ...named, ...headers }, ...bodyFacts(part), batch: size })
}

const bodyFacts = ({ body, form, reason }: Pick<Made, 'body' | 'form' | 'reason'>) => ({
  sha256: sha256(body),
  bytes: Buffer.byteLength(body),
  ...(form === null ? {} : { form }),
  ...(reason === null ? {} : { reason }),
})

export const sha256 = (body: string | Uint8Array): string => hash('sha256', body, 'base64url')

type Of = {
  readonly recordId: string
  readonly dataset: string
  readonly attempt: { readonly id: string; readonly number: number }
}

const traceparentIn = (trace: string, attemptId: string): string =>
  traceparentOf({ submissionId: Buffer.from(trace, 'base64url').toString('hex'), attemptId })

/** The request as it was sent, with public ids for the UUIDs and dots for write-only values. */
export function shownRequest(stored: StoredRequest | null, { recordId, dataset, attempt }: Of): SentRequest | null {
  if (stored === null) return null
  const body = {
    body_sha256: Buffer.from(stored.sha256, 'base64url').toString('hex'),
    body_bytes: stored.bytes,
    body_form: stored.form ?? null,
    body_reason: stored.reason ?? null,
    batch_size: stored.batch ?? null,
  }
  const isOurs = stored.form !== 'as_received'
  const method = stored.method ?? 'POST'
  if (stored.bare === true) return { method, url: stored.url, headers: {}, ...body }
  const dots = Object.fromEntries(stored.hidden.map((name) => [name, DOTS]))
  if (stored.batch !== undefined)
    return {
      method,
      url: stored.url,
      headers: { 'content-type': 'application/json', ...stored.headers, ...dots },
      ...body,
    }
  const eventId = encodeId('record', recordId)
  return {
    method,
    url: stored.url,
    headers: {
      ...(isOurs ? { 'content-type': 'application/json' } : {}),
      [EVENT_ID]: eventId,
      [DELIVERY_ID]: encodeId('attempt', attempt.id),
      [ATTEMPT]: String(attempt.number),
      [DATASET]: dataset,
      ...(stored.trace === undefined ? {} : { [TRACEPARENT]: traceparentIn(stored.trace, attempt.id) }),
      ...(!isOurs || stored.headers['webhook-signature'] === undefined ? {} : { [STANDARD_ID]: eventId }),
      ...stored.headers,
      ...dots,
    },
    ...body,
  }
}
