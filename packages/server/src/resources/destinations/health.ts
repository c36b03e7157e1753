import { encodeId, LIMITS } from '@postroad/contract'
import { quantileMs, type Histogram } from '../../domain/latency-histogram.ts'
import { refuse } from '../../domain/refusal.ts'
import { uuidv7Ms } from '../../platform/ids.ts'
import { rangeAt, sumDestinations } from '../rollups/index.ts'
import type { Room } from '../verbs.ts'
import { measureBacklog } from './backlog/queries.ts'
import { presentDestination } from './present.ts'
import { findDestination } from './queries.ts'

const HOUR_MS = 3_600_000
const NOTHING = { succeeded: 0, failed: 0, interrupted: 0, gave_up: 0, open: 0, response_ms: [], delivery_ms: [] }

/** How deliveries went lately, from rollups, and what waits now, from the index of what is due: no question reads the attempts. */
export const health: Room<'destinations'>['health'] = async (ctx, { id, hours }) => {
  const row = await findDestination(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  const now = ctx.clock.now()
  const range = await rangeAt(ctx.db, { from: now - hours * HOUR_MS, to: now, now })
  const [sums, waiting] = await Promise.all([
    sumDestinations(ctx.db, { ...ctx, projectIds: [ctx.projectId], pieces: range.pieces, failing: null, destinationId: id }),
    measureBacklog(ctx.db, { workspaceId: ctx.workspaceId, destinationId: id, max: LIMITS.backlogCountMax }),
  ])
  const { succeeded, failed, interrupted, gave_up, response_ms, delivery_ms } = sums[0] ?? NOTHING
  return {
    health: {
      destination_id: encodeId('destination', id),
      enabled: row.enabled,
      disabled_reason: row.disabled_reason,
      from: new Date(range.from).toISOString(),
      to: new Date(range.to).toISOString(),
      counted_at: range.countedAt === null ? null : new Date(range.countedAt).toISOString(),
      breaker: presentDestination(ctx, row).breaker,
      attempts: { succeeded, failed, interrupted, gave_up },
      success_ratio: succeeded + failed === 0 ? null : Math.round((succeeded / (succeeded + failed)) * 10_000) / 10_000,
      response_ms: quantiles(response_ms),
      delivery_ms: quantiles(delivery_ms),
      backlog: {
        pending: waiting.pending,
        retrying: waiting.retrying,
        paused: waiting.paused,
        oldest_accepted_at: waiting.oldest === null ? null : new Date(uuidv7Ms(waiting.oldest)).toISOString(),
      },
      next_attempt_at: waiting.next_attempt_at?.toISOString() ?? null,
    },
  }
}

function quantiles(histogram: Histogram): { p50: number; p95: number } | null {
  const [p50, p95] = [quantileMs(histogram, 0.5), quantileMs(histogram, 0.95)]
  return p50 === null || p95 === null ? null : { p50, p95 }
}
