import { DELIVERY_HEADERS } from '@postroad/contract'
import { storedView, type StoredRequest } from '../capture/request-view.ts'
import type { TemplateScope } from './payload-template.ts'
import { signDelivery } from '../signature/index.ts'

/** The request to a destination. It uses only stored data, so the same record gives the same body on every attempt. */

/** Ids in their public form; `data` is the payload byte for byte. */
export type Event = { readonly id: string; readonly dataset: string; readonly received_at: Date; readonly data: string }

/** Decisions §6: exactly these members in this order, `data` byte for byte. */
export function envelope({ id, dataset, received_at, data }: Event): string {
  return `{"id":"${id}","dataset":"${dataset}","received_at":"${received_at.toISOString()}","data":${data}}`
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
  readonly signing: 'both' | 'service' | 'standard'
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
} as const

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
      id: event.id,
      body,
      timestampSeconds: Math.floor(now / 1_000),
      header: proofOf(signing, forwarded),
    }),
  }
}

/** Our headers of Standard Webhooks must not replace those of the sender, which the receiver verifies. */
const proofOf = (signing: ToHead['signing'], forwarded: ToHead['forwarded']): ToHead['signing'] =>
  STANDARD.some((name) => forwarded[name] !== undefined) ? 'service' : signing

const STANDARD = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
