/** The life cycle of a delivery. docs/states/delivery.md has the diagram; a test compares the two. */

export const DELIVERY_STATES = ['pending', 'sending', 'delivered', 'retrying', 'failed', 'paused', 'cancelled'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The reasons why a delivery waits although it has not failed. It is sent when the reason ends. */
export const PAUSE_REASONS = [
  'workspace_suspended',
  'workspace_closed',
  'destination_disabled',
  'allowance_used',
] as const
export type PauseReason = (typeof PAUSE_REASONS)[number]

/** The cause of the next attempt; written on the attempt. */
export const ATTEMPT_TRIGGERS = ['initial', 'automatic', 'manual', 'replay', 'resume'] as const
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number]

/** The outcome of an attempt. `interrupted`: it is unknown what the receiver saw; this does not count as a failure. */
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

/** True when a delivery may go from one state to the other in one step. Staying in a state is not a step. */
export function canMove(from: DeliveryState, to: DeliveryState): boolean {
  return NEXT[from].includes(to)
}

/** True in the states that wait for a time: exactly these have a `next_attempt_at`. */
export function isScheduled(state: DeliveryState): boolean {
  return state === 'pending' || state === 'retrying'
}
