import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/** The plan's token bucket of the credential: an ingest key's, or an endpoint's, whose two URLs during a rotation share it. */
export const checkBurst: Check = (deps, { captured, receiver: { plan, webhook, ingestKeyId } }) => {
  const { ingest_per_second: perSecond, ingest_burst: burst } = plan.limits
  const waitMs = deps.buckets.take(ingestKeyId ?? webhook?.id ?? '', { perSecond, burst, now: captured.receivedAt })
  return waitMs === 0 ? undefined : reject('burst_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}
