import { hash } from 'node:crypto'
import { DELIVERY_HEADERS } from '@postroad/contract'
import { storedView, type StoredRequest } from '../capture/request-view.ts'
import type { Signing } from './signing-keys.ts'
import type { TemplateScope } from './payload-template.ts'
import { signDelivery } from '../signature/index.ts'

/** The request to a destination. It uses only stored data, so the same record gives the same body on every attempt. */

/** Ids in their public form; `data` is the payload byte for byte. */
export type Event = { readonly id: string; readonly dataset: string; readonly received_at: Date; readonly data: string }

/** Decisions §6: exactly these members in this order, `data` byte for byte. */
export function envelope({ id, dataset, received_at, data }: Event): string {
  return `{"id":"${id}","dataset":"${dataset}","received_at":"${received_at.toISOString()}","data":${data}}`
}

/** The event without its payload. The receiver reads the record at `url` with a Data API key. */
export function thinEnvelope({ id, dataset, received_at }: Omit<Event, 'data'>, baseUrl: string): string {
  const url = `${baseUrl}/v1/data/${encodeURIComponent(dataset)}/${id}`
  return JSON.stringify({ id, dataset, received_at: received_at.toISOString(), url })
}

/** The same event in the form for payload templates. */
export function templateScope(
  { received_at, ...event }: Event,
  { secret, request }: Pick<TemplateScope, 'secret'> & { readonly request: StoredRequest | undefined },
): TemplateScope {
  const view = request === undefined ? null : storedView(request)
  return { ...event, received_at: received_at.toISOString(), secret, request: view }
}

export type ToHead = {
  /** The destination's custom headers, names in lower case. */
  readonly own: Readonly<Record<string, string>>
  /** The headers of the received request that go along, names in lower case. */
  readonly forwarded: Readonly<Record<string, string>>
  /** The request is the received one, with its own content type and user agent. */
  readonly isAsReceived: boolean
  /** Absent: JSON. */
  readonly contentType?: string | undefined
  readonly event: Pick<Event, 'id' | 'dataset'>
  readonly attempt: { readonly id: string; readonly number: number }
  /** The trace of the event, with the attempt as the parent. */
  readonly traceparent: string
  /** The number of services like this one that the event has passed. */
  readonly hops: number
  /** The services that it has passed, for Service-Chain; null: none is known. */
  readonly chain: string | null
  readonly body: string | Uint8Array
  readonly secrets: readonly string[]
  /** The ed25519 keys, which sign by the scheme of `signing`. */
  readonly keys: readonly string[]
  readonly signing: Signing
  readonly userAgent: string
  readonly now: number
}

const NAMES = {
  eventId: DELIVERY_HEADERS.eventId.toLowerCase(),
  deliveryId: DELIVERY_HEADERS.deliveryId.toLowerCase(),
  attempt: DELIVERY_HEADERS.attempt.toLowerCase(),
  dataset: DELIVERY_HEADERS.dataset.toLowerCase(),
  hops: DELIVERY_HEADERS.hops.toLowerCase(),
  chain: DELIVERY_HEADERS.chain.toLowerCase(),
  batchId: DELIVERY_HEADERS.batchId.toLowerCase(),
  batchSize: DELIVERY_HEADERS.batchSize.toLowerCase(),
} as const

export type ToHeadBatch = Pick<
  ToHead,
  'own' | 'hops' | 'chain' | 'body' | 'secrets' | 'keys' | 'signing' | 'userAgent' | 'now'
> & { readonly id: string; readonly size: number }

/** The headers of a request with several events. The facts of one event are only in the body. */
export function batchHeaders({
  own,
  id,
  size,
  hops,
  chain,
  userAgent,
  now,
  signing,
  ...signed
}: ToHeadBatch): Record<string, string> {
  return {
    ...own,
    'content-type': 'application/json',
    'user-agent': userAgent,
    [NAMES.batchId]: id,
    [NAMES.batchSize]: String(size),
    [NAMES.hops]: String(hops),
    ...(chain === null ? {} : { [NAMES.chain]: chain }),
    ...signDelivery({ ...signed, id, timestampSeconds: Math.floor(now / 1_000), ...signing }),
  }
}

/** The id of a batch follows from its events, so a repeat of the same batch has the same id. */
export const batchId = (ids: readonly string[]): string => `batch_${hash('sha256', ids.join(' ')).slice(0, 32)}`

/** The body of a batch: an array of the bodies of its events, byte for byte. */
export const batchBody = (bodies: readonly string[]): string => `[${bodies.join(',')}]`

/** The headers of one attempt. The signature covers exactly the bytes of the body. */
export function deliveryHeaders({
  own,
  forwarded,
  isAsReceived,
  contentType = 'application/json',
  event,
  attempt,
  traceparent,
  hops,
  chain,
  body,
  secrets,
  keys,
  signing,
  userAgent,
  now,
}: ToHead): Record<string, string> {
  return {
    ...(isAsReceived ? { 'user-agent': userAgent } : {}),
    ...forwarded,
    ...own,
    ...(isAsReceived ? {} : { 'content-type': contentType, 'user-agent': userAgent }),
    [NAMES.eventId]: event.id,
    [NAMES.deliveryId]: attempt.id,
    [NAMES.attempt]: String(attempt.number),
    [NAMES.dataset]: event.dataset,
    traceparent,
    [NAMES.hops]: String(hops),
    ...(chain === null ? {} : { [NAMES.chain]: chain }),
    ...signDelivery({
      secrets,
      keys,
      id: event.id,
      body,
      timestampSeconds: Math.floor(now / 1_000),
      header: proofOf(signing, forwarded),
      scheme: signing.scheme,
    }),
  }
}

/** Our headers of Standard Webhooks must not replace those of the sender, which the receiver verifies. */
const proofOf = ({ header }: Signing, forwarded: ToHead['forwarded']): Signing['header'] =>
  STANDARD.some((name) => forwarded[name] !== undefined) ? 'service' : header

const STANDARD = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
