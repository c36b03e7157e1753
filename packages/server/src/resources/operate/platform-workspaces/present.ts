import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { monthOf } from '../../../domain/workspace/month.ts'
import { firstDayRetained, limitsOf } from '../../../domain/workspace/plan.ts'
import { rangeAt } from '../../workspace/rollups/index.ts'
import { countEvents, type CountedRow, type PlatformRow } from './queries.ts'

/** Workspaces as operators see them. The counts of all of them are one statement. */
export async function presentAll(ctx: Ctx, rows: readonly PlatformRow[]) {
  const month = monthOf(ctx.clock.now())
  const counted = new Map((await countsOf(ctx, rows)).map((row) => [row.workspace_id, row]))
  return rows.map((row) => {
    const limits = limitsOf(ctx.plans, row.plan)
    const { this_month = 0, retained = 0 } = counted.get(row.id) ?? {}
    const { events_per_month: max_events, deliveries_per_month: max_deliveries } = limits
    return {
      id: encodeId('workspace', row.id),
      slug: row.slug,
      name: row.name,
      plan: row.plan,
      state: stateOf(row),
      suspended_at: row.suspended_at?.toISOString() ?? null,
      suspended_reason: row.suspended_reason,
      closed_at: row.closed_at?.toISOString() ?? null,
      created_at: row.created_at.toISOString(),
      members: row.members,
      network_restricted: row.network_restricted,
      usage: {
        month: month.slice(0, 7),
        events: max_events === null ? this_month : row.events,
        max_events,
        deliveries: max_deliveries === null ? null : row.deliveries,
        max_deliveries,
      },
      retained_events: retained,
    }
  })
}

async function countsOf({ db, plans, clock }: Ctx, rows: readonly PlatformRow[]): Promise<readonly CountedRow[]> {
  if (rows.length === 0) return []
  const now = clock.now()
  const month = monthOf(now)
  const since = rows.map((row) => firstDayRetained(limitsOf(plans, row.plan), now))
  const { pieces } = await rangeAt(db, { from: Math.min(Date.parse(month), ...since), to: now, now })
  return countEvents(db, {
    workspaceIds: rows.map((row) => row.id),
    since: since.map((ms) => new Date(ms)),
    month,
    pieces,
  })
}

function stateOf({ suspended_at, closed_at }: PlatformRow): 'active' | 'suspended' | 'closed' {
  if (suspended_at !== null) return 'suspended'
  return closed_at === null ? 'active' : 'closed'
}
