import { retryAfterMs, retryDelayMs } from '../../domain/delivery/retry-policy.ts'
import { judge } from './judge.ts'
import type { Begun, HttpResult, Settle } from './ports.ts'

export interface Finished {
  readonly attempt: Begun
  readonly result: HttpResult
  readonly schedule: readonly number[]
  /** One draw from [0, 1), for the jitter. */
  readonly random: number
  /** It was let through by an open breaker; a failure then uses up no step, and `hopeless` switches the destination off. */
  readonly probe: boolean
  readonly hopeless: boolean
}

/** What the store is to write for an attempt whose request has ended. */
export function settlement({ attempt, result, schedule, random, probe, hopeless }: Finished): Settle {
  const verdict = judge(result)
  const settle = { ...blank(attempt), result }
  if (verdict.next === 'delivered') return { ...settle, outcome: 'succeeded', next: 'delivered' }

  const failed = { ...settle, outcome: 'failed', error_code: verdict.error_code } as const
  if (verdict.next === 'disable') return { ...failed, next: 'paused', disable_destination: 'gone' }
  if (probe) return afterProbe(failed, { hopeless, retryAfterSeconds: verdict.retry_after_seconds })

  const failures = attempt.failure_count + 1
  const delayMs = retryDelayMs({ failures, schedule, random, retryAfterSeconds: verdict.retry_after_seconds })
  if (delayMs === null) return { ...failed, next: 'failed' }
  return { ...failed, next: 'retrying', next_attempt_in_ms: delayMs }
}

/** It waits for the breaker and not for itself, but for what the receiver asked for. */
function afterProbe(
  failed: Omit<Settle, 'next'>,
  { hopeless, retryAfterSeconds }: { hopeless: boolean; retryAfterSeconds: number | null },
): Settle {
  if (hopeless) return { ...failed, counts: false, next: 'paused', disable_destination: 'failing' }
  return { ...failed, counts: false, next: 'retrying', next_attempt_in_ms: retryAfterMs(retryAfterSeconds) }
}

/** For an attempt that was begun and then not sent: due again at once, and no failure of the receiver's. */
export function interruption(attempt: Begun): Settle {
  return { ...blank(attempt), outcome: 'interrupted', next: 'retrying', next_attempt_in_ms: 0 }
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
