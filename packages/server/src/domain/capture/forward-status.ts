import { FORWARD_STATUSES, type DELIVERY_STATES } from '@postroad/contract'

type ForwardStatus = (typeof FORWARD_STATUSES)[number]
type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The status of a submission: that of its worst delivery. It is `cancelled` only if all deliveries are. */
export function forwardStatus(states: readonly DeliveryState[]): ForwardStatus {
  const statuses = new Set<ForwardStatus>(states.map((state) => (state === 'sending' ? 'pending' : state)))
  return FORWARD_STATUSES.find((status) => statuses.has(status)) ?? 'none'
}
