/** Rules about deliveries that are held back, as pure functions that the server, the console and the command line share. */
import type { ERROR_CODES } from './error-codes.ts'

/** The causes for which a destination holds deliveries back, most serious first. A destination has one cause at a time. */
export const HOLD_CAUSES = [
  'destination_disabled',
  'destination_off',
  'breaker_open',
  'breaker_recovering',
  'rate_limit',
  'in_flight',
  'order',
] as const
export type HoldCause = (typeof HOLD_CAUSES)[number]

/** The form in responses; the schema is in held-by.ts. */
export type HeldBy = {
  readonly cause: HoldCause
  readonly last_error: (typeof ERROR_CODES)[number] | null
  readonly last_status: number | null
  readonly since: string | null
  readonly next_probe_at: string | null
  readonly behind: string | null
}

type Waiting = {
  readonly state: string
  readonly pause_reason: string | null
  readonly next_attempt_at: string | null
}

const OFF: HeldBy = {
  cause: 'destination_off',
  last_error: null,
  last_status: null,
  since: null,
  next_probe_at: null,
  behind: null,
}

/** True when the destination is off, so its deliveries are paused. */
export function isOff({ cause }: Pick<HeldBy, 'cause'>): boolean {
  return cause === 'destination_off' || cause === 'destination_disabled'
}

/** Causes that a person must look into. The others are queues, which move on without help. */
export const TROUBLE_CAUSES: ReadonlySet<string> = new Set<HoldCause>([
  'destination_disabled',
  'breaker_open',
  'breaker_recovering',
])

/** A delivery that is due by this time is held back. One that is due after the next probe waits for its scheduled time. */
export function heldUntil({ cause, next_probe_at }: Pick<HeldBy, 'cause' | 'next_probe_at'>, now: number): number {
  return cause === 'breaker_open' && next_probe_at !== null ? Math.max(now, Date.parse(next_probe_at)) : now
}

/**
 * The reason that holds back this delivery: that of its destination, if the delivery would be sent without it. The server, the console and the
 * command line all use this function.
 */
export function heldBy(
  delivery: Waiting,
  { hold, now }: { readonly hold: HeldBy | undefined; readonly now: number },
): HeldBy | null {
  const { state, pause_reason, next_attempt_at } = delivery
  if (state === 'paused') {
    if (pause_reason !== 'destination_disabled') return null
    return hold !== undefined && isOff(hold) ? hold : OFF
  }
  if (hold === undefined || next_attempt_at === null || (state !== 'pending' && state !== 'retrying')) return null
  if (!isOff(hold) && Date.parse(next_attempt_at) > heldUntil(hold, now)) return null
  return { ...hold, since: hold.since ?? next_attempt_at }
}

const CAUSES: Readonly<Record<HoldCause, string>> = {
  destination_disabled: 'Postroad turned the destination off',
  destination_off: 'the destination is off',
  breaker_open: 'the breaker is open',
  breaker_recovering: 'the destination is recovering',
  rate_limit: 'the rate limit is reached',
  in_flight: 'too many requests are in progress',
  order: 'an earlier delivery has the same key',
}

/** The cause in words. */
export const holdText = ({ cause }: Pick<HeldBy, 'cause'>): string => CAUSES[cause]
