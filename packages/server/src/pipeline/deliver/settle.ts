import { retryAfterMs, retryDelayMs } from '../../domain/delivery/retry-policy.ts'
import { judge } from './judge.ts'
import type { Begun, SendResult, Settle } from './ports.ts'

export interface Finished {
  readonly attempt: Begun
  readonly result: Exclude<SendResult, { type: 'unsent' }>
  readonly schedule: readonly number[]
  /** A random number from [0, 1), for the jitter. */
  readonly random: number
  /**
   * An open breaker let the attempt through. Its failure uses up no step of the schedule, and `hopeless` turns the
   * destination off.
   */
  readonly probe: boolean
  readonly hopeless: boolean
}

/** The row that the store must write for an attempt whose request has ended. */
export function settlement({ attempt, result, schedule, random, probe, hopeless }: Finished): Settle {
  const verdict = judge(result)
  const settle = { ...blank(attempt), result }
  if (verdict.next === 'delivered') return { ...settle, outcome: 'succeeded', next: 'delivered' }
  if (verdict.next === 'cancel') return { ...settle, outcome: 'succeeded', next: 'cancelled' }

  const failed = { ...settle, outcome: 'failed', error_code: verdict.error_code } as const
  if (verdict.next === 'disable') return { ...failed, next: 'paused', disable_destination: 'gone' }
  if (verdict.next === 'fail') return { ...failed, next: 'failed' }
  if (probe) return afterProbe(failed, { hopeless, retryAfterSeconds: verdict.retry_after_seconds })

  const failures = attempt.failure_count + 1
  const delayMs = retryDelayMs({ failures, schedule, random, retryAfterSeconds: verdict.retry_after_seconds })
  if (delayMs === null) return { ...failed, next: 'failed' }
  return { ...failed, next: 'retrying', next_attempt_in_ms: delayMs }
}

/**
 * After a probe, the delivery waits for the breaker, not for its own schedule, except for the time that the receiver requested.
 */
function afterProbe(
  failed: Omit<Settle, 'next'>,
  { hopeless, retryAfterSeconds }: { hopeless: boolean; retryAfterSeconds: number | null },
): Settle {
  if (hopeless) return { ...failed, counts: false, next: 'paused', disable_destination: 'failing' }
  return { ...failed, counts: false, next: 'retrying', next_attempt_in_ms: retryAfterMs(retryAfterSeconds) }
}

/** For an attempt that started but was not sent: its delivery is due again, by default immediately, and no failure is counted. */
export function interruption(attempt: Begun, dueInMs = 0): Settle {
  return { ...blank(attempt), outcome: 'interrupted', next: 'retrying', next_attempt_in_ms: dueInMs }
}

function blank({ lane, fence, delivery_id, attempt_id }: Begun) {
  return {
    lane,
    fence,
    delivery_id,
    attempt_id,
    error_code: null,
    next_attempt_in_ms: null,
    counts: true,
    disable_destination: null,
    result: null,
  } as const
}
