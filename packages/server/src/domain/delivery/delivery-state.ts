/** The life cycle of a delivery, once. The drawing beside it is docs/states/delivery.md; a test keeps the two equal. */

export const DELIVERY_STATES = ['pending', 'sending', 'delivered', 'retrying', 'failed', 'paused', 'cancelled'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** Why a delivery waits although nothing is wrong with it. It is sent when the reason goes. */
export const PAUSE_REASONS = [
  'workspace_suspended',
  'workspace_closed',
  'destination_disabled',
  'allowance_used',
] as const
export type PauseReason = (typeof PAUSE_REASONS)[number]

/** What makes the next attempt happen; written on the attempt. */
export const ATTEMPT_TRIGGERS = ['initial', 'automatic', 'manual', 'replay', 'resume'] as const
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number]

/** How an attempt ended. `interrupted`: nobody knows what the receiver saw; it does not count as a failure. */
export const ATTEMPT_OUTCOMES = ['succeeded', 'failed', 'interrupted'] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

export const NEXT: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  pending: ['sending', 'paused', 'cancelled'],
  sending: ['delivered', 'retrying', 'failed', 'paused', 'cancelled'],
  delivered: ['pending', 'retrying', 'paused'],
  retrying: ['sending', 'paused', 'cancelled'],
  failed: ['pending', 'retrying', 'paused'],
  paused: ['pending', 'retrying', 'cancelled'],
  cancelled: ['pending', 'retrying', 'paused'],
}

/** True when a delivery may go from one state to the other in one step; staying where it is is no step. */
export function canMove(from: DeliveryState, to: DeliveryState): boolean {
  return NEXT[from].includes(to)
}

/** True in the states that wait for a moment: exactly these have a `next_attempt_at`. */
export function isScheduled(state: DeliveryState): boolean {
  return state === 'pending' || state === 'retrying'
}
