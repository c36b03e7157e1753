import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/**
 * The plan's token bucket for the credential: an ingest key's, or an endpoint's. The two URLs of an endpoint share it
 * during a rotation. An event without a sender has none: its origin sets the pace. A request from quarantine took its
 * token when it came.
 */
export const checkBurst: Check = (deps, { captured, receiver: { plan, origin, webhook, ingestKeyId } }) => {
  if (origin !== undefined || captured.again === true) return undefined
  const { ingest_per_second: perSecond, ingest_burst: burst } = plan.limits
  const waitMs = deps.buckets.take(ingestKeyId ?? webhook?.id ?? '', { perSecond, burst, now: captured.receivedAt })
  return waitMs === 0 ? undefined : reject('burst_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}
