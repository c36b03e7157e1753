import { encodeId, LIMITS } from '@postroad/contract'
import { quantileMs, type Histogram } from '../../../domain/workspace/latency-histogram.ts'
import { refuse } from '../../../domain/refusal.ts'
import { uuidv7Ms } from '../../../platform/ids.ts'
import { rangeAt, seriesOfDestination, sumDestinations, type CountedRange } from '../../workspace/rollups/index.ts'
import { presentBreaker, type ShownBreaker } from '../lanes/index.ts'
import type { Room } from '../../verbs.ts'
import { measureBacklog } from './backlog/queries.ts'
import { listHolds } from '../delivery-holds/index.ts'
import { findDestination } from './queries.ts'

const HOUR_MS = 3_600_000
/** Up to this many hours are shown minute by minute. */
const MINUTES_UP_TO_HOURS = 3
const NOTHING = { succeeded: 0, failed: 0, interrupted: 0, gave_up: 0, open: 0, response_ms: [], delivery_ms: [] }

/** Recent outcomes from rollups, and waiting deliveries from the index of due ones. No query reads the attempts. */
export const health: Room<'destinations'>['health'] = async (ctx, { id, hours }) => {
  const row = await findDestination(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  const now = ctx.clock.now()
  const bucketSeconds = hours <= MINUTES_UP_TO_HOURS ? 60 : 3_600
  const bucketMs = bucketSeconds * 1_000
  const range = await rangeAt(ctx.db, {
    from: Math.floor((now - hours * HOUR_MS) / bucketMs) * bucketMs,
    to: Math.ceil(now / bucketMs) * bucketMs,
    now,
    bucketSeconds,
  })
  const asked = { ...ctx, projectIds: [ctx.projectId], pieces: range.pieces, destinationId: id }
  const [sums, series, waiting, [held]] = await Promise.all([
    sumDestinations(ctx.db, { ...asked, destinationIds: [id], failing: null }),
    seriesOfDestination(ctx.db, { ...asked, from: new Date(range.from), bucketSeconds }),
    measureBacklog(ctx.db, { workspaceId: ctx.workspaceId, destinationId: id, max: LIMITS.backlogCountMax }),
    listHolds(ctx.db, { workspaceId: ctx.workspaceId, projectIds: [ctx.projectId], destinationIds: [id], now }),
  ])
  const breaker = presentBreaker(row.lane)
  const { succeeded, failed, interrupted, gave_up, response_ms, delivery_ms } = sums[0] ?? NOTHING
  return {
    health: {
      destination_id: encodeId('destination', id),
      enabled: row.enabled,
      disabled_reason: row.disabled_reason,
      from: new Date(range.from).toISOString(),
      to: new Date(range.to).toISOString(),
      counted_at: range.countedAt === null ? null : new Date(range.countedAt).toISOString(),
      breaker,
      attempts: { succeeded, failed, interrupted, gave_up },
      bucket_seconds: bucketSeconds,
      points: pointsOf(range, { bucketSeconds, found: new Map(series.map((point) => [point.bucket, point])) }),
      success_ratio: succeeded + failed === 0 ? null : Math.round((succeeded / (succeeded + failed)) * 10_000) / 10_000,
      response_ms: quantiles(response_ms),
      delivery_ms: quantiles(delivery_ms),
      backlog: {
        pending: waiting.pending,
        retrying: waiting.retrying,
        paused: waiting.paused,
        held: held?.count ?? 0,
        oldest_accepted_at: waiting.oldest === null ? null : new Date(uuidv7Ms(waiting.oldest)).toISOString(),
      },
      held_by: held?.hold ?? null,
      next_attempt_at: row.enabled ? nextOf(waiting.next_attempt_at, breaker) : null,
    },
  }
}

/** Nothing is sent before the next probe of an open breaker, even if it is due. */
function nextOf(due: Date | null, { state, next_probe_at }: ShownBreaker): string | null {
  if (due === null) return null
  const probeAt = state === 'open' && next_probe_at !== null ? Date.parse(next_probe_at) : 0
  return new Date(Math.max(due.getTime(), probeAt)).toISOString()
}

type Series = {
  readonly bucketSeconds: number
  readonly found: ReadonlyMap<
    number,
    { readonly succeeded: number; readonly failed: number; readonly interrupted: number }
  >
}

function pointsOf({ from, to }: CountedRange, { bucketSeconds, found }: Series) {
  return Array.from({ length: (to - from) / 1_000 / bucketSeconds }, (_unused, bucket) => {
    const { succeeded, failed, interrupted } = found.get(bucket) ?? NOTHING
    return { at: new Date(from + bucket * bucketSeconds * 1_000).toISOString(), succeeded, failed, interrupted }
  })
}

function quantiles(histogram: Histogram): { p50: number; p95: number } | null {
  const [p50, p95] = [quantileMs(histogram, 0.5), quantileMs(histogram, 0.95)]
  return p50 === null || p95 === null ? null : { p50, p95 }
}
