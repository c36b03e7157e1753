import { DELIVERY_HEADERS, LIMITS } from '@postroad/contract'
import { CHAIN_HEADER } from '../event-chain.ts'
import type { Captured, Origin } from '../types.ts'

/** An event that no sender sent. */
export type Made = {
  readonly workspaceId: string
  readonly projectId: string
  readonly dataset: string
  readonly origin: Origin
  /** JSON text: the payload. */
  readonly text: string
  readonly receivedAt: number
  /** The number of workflows and agents that led to this event; 0: none. */
  readonly hops?: number
  /** The event that led to this one through workflows and agents; absent: none did. */
  readonly root?: string
  /** The chain of the record that led to this event. */
  readonly chain?: string | null
  /** The customer that the event names, or the place where it does; absent: it names none. */
  readonly customer?: Captured['customer']
  /** Identifies a repeat of the same origin: 1 to 255 printable characters without spaces. */
  readonly idempotencyKey?: string
}

const CONTENT_TYPE = 'application/json'

/** An event of a source, a trigger, a workflow or an AI run → Captured. From here, it takes the road of every event. */
export function fromOrigin(made: Made): Captured {
  const { workspaceId, projectId, dataset, origin, hops = 0, chain = null, idempotencyKey } = made
  const body = Buffer.from(made.text)
  return {
    address: { kind: 'origin', workspaceId, projectId, dataset, origin },
    asked: { kind: 'event' },
    target: '/',
    customer: made.customer,
    root: made.root,
    headers: {
      'content-type': CONTENT_TYPE,
      ...(hops === 0 ? {} : { [DELIVERY_HEADERS.hops.toLowerCase()]: String(hops) }),
      ...(chain === null ? {} : { [CHAIN_HEADER]: chain }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    sourceIp: undefined,
    receivedAt: made.receivedAt,
    shareWith: () => undefined,
    readBody: (bytesMax) => Promise.resolve(body.length > bytesMax ? 'too_large' : body),
    depthMax: LIMITS.forwardedJsonDepthMax,
  }
}
