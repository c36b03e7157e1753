import type { DELIVERY_STATES } from '@postroad/contract'
import type { Standing } from '../ui/glyph.tsx'

export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** How a delivery stands, as a shape. */
export function standingOf(state: DeliveryState): Standing {
  switch (state) {
    case 'delivered':
      return 'ok'
    case 'retrying':
      return 'retry'
    case 'failed':
      return 'fail'
    case 'pending':
    case 'sending':
      return 'sending'
    case 'paused':
      return 'paused'
    case 'cancelled':
      return 'rejected'
  }
}

const WORST: readonly Standing[] = ['fail', 'retry', 'paused', 'sending', 'ok', 'rejected']

/** How an event stands: the worst of its deliveries; `none` without any. */
export function worstOf(standings: readonly Standing[]): Standing {
  return WORST.find((standing) => standings.includes(standing)) ?? 'none'
}
