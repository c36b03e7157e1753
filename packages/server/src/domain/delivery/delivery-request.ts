import { DELIVERY_HEADERS } from '@postroad/contract'
import type { TemplateScope } from './payload-template.ts'
import { signDelivery } from '../signature/index.ts'

/** What goes to a destination, made from what is stored and nothing else: the same record gives the same body on every attempt. */

/** Ids as they are shown; `data` is the payload byte for byte. */
export type Event = { readonly id: string; readonly dataset: string; readonly received_at: Date; readonly data: string }

/** Decisions §6: exactly these members in this order, `data` byte for byte. */
export function envelope({ id, dataset, received_at, data }: Event): string {
  return `{"id":"${id}","dataset":"${dataset}","received_at":"${received_at.toISOString()}","data":${data}}`
}

/** The same event as a payload template sees it. */
export function templateScope({ received_at, ...event }: Event, secret: string | undefined): TemplateScope {
  return { ...event, received_at: received_at.toISOString(), secret }
}

export type ToHead = {
  /** Of the destination's own, names in lower case. */
  readonly own: Readonly<Record<string, string>>
  readonly event: Pick<Event, 'id' | 'dataset'>
  readonly attempt: { readonly id: string; readonly number: number }
  /** How often the event has been through a service like this one. */
  readonly hops: number
  /** Whom it has passed, for Service-Chain; null: nobody that is known. */
  readonly chain: string | null
  readonly body: string
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

/** The headers of one attempt; the signature is over the very bytes of the body. */
export function deliveryHeaders({
  own,
  event,
  attempt,
  hops,
  chain,
  body,
  secrets,
  signing,
  userAgent,
  now,
}: ToHead): Record<string, string> {
  return {
    ...own,
    'content-type': 'application/json',
    'user-agent': userAgent,
    [NAMES.eventId]: event.id,
    [NAMES.deliveryId]: attempt.id,
    [NAMES.attempt]: String(attempt.number),
    [NAMES.dataset]: event.dataset,
    [NAMES.hops]: String(hops),
    ...(chain === null ? {} : { [NAMES.chain]: chain }),
    ...signDelivery({ secrets, id: event.id, body, timestampSeconds: Math.floor(now / 1_000), header: signing }),
  }
}
