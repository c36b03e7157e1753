import { encodeId, HOLD_CAUSES, LIMITS, type HeldBy, type RouteOutput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { forwardStatus } from '../../../domain/capture/forward-status.ts'
import { refuse } from '../../../domain/refusal.ts'
import { heldOf } from '../../delivery/delivery-holds/index.ts'
import type { Room } from '../../verbs.ts'
import { findWebhook } from '../webhooks/index.ts'
import { countRows, listForwards, listRows, summarize, type ActivityRow, type Window } from './queries.ts'

const { activityWindowDays, activitySummaryHours, activityRowsMax, activityCountMax } = LIMITS
const HOUR_MS = 3_600_000

type Answer = RouteOutput<Routes['activity']['list']>

export const activity: Room<'activity'> = {
  list: async (ctx, { id, kind, limit, offset }) => {
    if ((await findWebhook(ctx.db, { ...ctx, id })) === undefined) throw refuse('not_found')
    const now = ctx.clock.now()
    const since = now - activityWindowDays * 24 * HOUR_MS
    const window: Window = { workspaceId: ctx.workspaceId, projectId: ctx.projectId, webhookId: id, kind, since }
    const dayAgo = now - activitySummaryHours * HOUR_MS
    const [total, summary, rows] = await Promise.all([
      countRows(ctx.db, { ...window, max: activityRowsMax }),
      summarize(ctx.db, { ...window, since: dayAgo, max: activityCountMax }),
      listRows(ctx.db, { ...window, offset, limit: Math.max(0, Math.min(limit, activityRowsMax - offset)) }),
    ])
    return {
      endpoint_id: encodeId('webhook', id),
      summary: {
        window_hours: activitySummaryHours,
        received: summary.received,
        rejected: summary.rejected,
        duplicates: summary.duplicates,
        key_reused: summary.key_reused,
        last_received_at: summary.last_received_at?.toISOString() ?? null,
        last_rejected_at: summary.last_rejected_at?.toISOString() ?? null,
      },
      rows: await presentRows(ctx, rows),
      total,
      limit,
      offset,
      since: new Date(since).toISOString(),
    }
  },
}

/** The rows in their public shape, with the progress of the deliveries of each received request. */
async function presentRows(ctx: Ctx, rows: readonly ActivityRow[]): Promise<Answer['rows']> {
  const recordIds = rows.flatMap((row) => row.record_ids ?? [])
  const forwards = recordIds.length === 0 ? [] : await listForwards(ctx.db, { workspaceId: ctx.workspaceId, recordIds })
  const holdOf = await heldOf(ctx, forwards)
  const byRecord = Map.groupBy(forwards, ({ record_id }) => record_id)
  return rows.map((row) => {
    const ofRow = (row.record_ids ?? []).flatMap((id) => byRecord.get(id) ?? [])
    return {
      kind: row.kind,
      id: encodeId(row.kind === 'received' ? 'submission' : 'rejection', row.id),
      at: row.at.toISOString(),
      reason: row.reason,
      status: row.status,
      count: row.count,
      source_ip: row.source_ip,
      method: row.method,
      content_type: row.content_type,
      forward_status: forwardStatus(ofRow.map(({ state }) => state)),
      held_by: mostSerious(ofRow.map(holdOf)),
    }
  })
}

function mostSerious(holds: readonly (HeldBy | null)[]): HeldBy | null {
  const found = holds.filter((hold) => hold !== null)
  return found.toSorted((a, b) => HOLD_CAUSES.indexOf(a.cause) - HOLD_CAUSES.indexOf(b.cause))[0] ?? null
}
