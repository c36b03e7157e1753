import { payerOf } from '../turn.ts'
import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/**
 * The plan's token bucket for the credential: an ingest key's, or an endpoint's. The two URLs of an endpoint share it
 * during a rotation. An event without a sender has none: its origin sets the pace. A request from quarantine took its
 * token when it came. The same credential must have paid for the work that its earlier requests caused.
 */
export const checkBurst: Check = (deps, { captured, receiver }) => {
  if (receiver.origin !== undefined || captured.again === true) return undefined
  const { limits } = receiver.plan
  const { ingest_per_second: perSecond, ingest_burst: burst } = limits
  const waitMs = deps.buckets.take(payerOf(receiver), { perSecond, burst, now: captured.receivedAt })
  if (waitMs > 0) return reject('burst_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
  const workMs = deps.work.waitMs(payerOf(receiver), limits)
  if (workMs > 0) return reject('work_limited', { text: TOO_MUCH_WORK, retryAfterSeconds: Math.ceil(workMs / 1_000) })
  return undefined
}

const TOO_MUCH_WORK =
  'Requests with this URL or key need more work than the plan allows: large bodies, or many that are refused. Send it again after retry_after seconds.'
