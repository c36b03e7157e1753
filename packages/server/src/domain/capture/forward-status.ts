import { FORWARD_STATUSES, type DELIVERY_STATES } from '@postroad/contract'

type ForwardStatus = (typeof FORWARD_STATUSES)[number]
type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The deliveries of a submission in one word. The worst one decides; `cancelled` only if all are canceled. */
export function forwardStatus(states: readonly DeliveryState[]): ForwardStatus {
  const statuses = new Set<ForwardStatus>(states.map((state) => (state === 'sending' ? 'pending' : state)))
  return FORWARD_STATUSES.find((status) => statuses.has(status)) ?? 'none'
}
