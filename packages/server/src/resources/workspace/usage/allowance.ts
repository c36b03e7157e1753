import type { Ctx } from '../../../context.ts'
import { monthOf, nextMonthAt } from '../../../domain/workspace/month.ts'
import { limitsOf, type PlanLimits } from '../../../domain/workspace/plan.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { addUsage, findUsage, lockUsage, type MonthOf } from './queries.ts'

/**
 * Deliveries that the plan allows in this month (docs/adr/0049). A delivery counts when it is released: in the commit of its event, and once
 * more with each replay. It does not count while it waits for the allowance.
 */
export type Allowance = MonthOf & { readonly max: number; readonly left: number }

type Of = Pick<Ctx, 'db' | 'plans' | 'clock' | 'workspaceId'>

/** The limits of the plan of the workspace. */
export async function findLimits({ db, plans, clock, workspaceId }: Of): Promise<PlanLimits> {
  const { plan } = await findUsage(db, { workspaceId, month: monthOf(clock.now()) })
  return limitsOf(plans, plan)
}

/** The current allowance; null: the plan has none. */
export async function findAllowance(of: Of): Promise<Allowance | null> {
  const at = { workspaceId: of.workspaceId, month: monthOf(of.clock.now()) }
  const { plan, deliveries } = await findUsage(of.db, at)
  const max = limitsOf(of.plans, plan).deliveries_per_month
  return max === null ? null : { ...at, max, left: Math.max(0, max - deliveries) }
}

/**
 * The current allowance, locked until the transaction ends, so that `left` stays true. Call it before any delivery is
 * locked: ingest, replays and releases all lock the month first.
 */
export async function lockAllowance(tx: Of): Promise<Allowance | null> {
  const found = await findAllowance(tx)
  if (found === null) return null
  const [used] = await lockUsage(tx.db, [found])
  return { ...found, left: Math.max(0, found.max - (used?.deliveries ?? 0)) }
}

/** Counts deliveries in a month that is locked. */
export async function useAllowance(tx: Of, { workspaceId, month }: MonthOf, deliveries: number): Promise<void> {
  // oxlint-disable-line max-params -- the context, the month, and the number
  if (deliveries > 0) await addUsage(tx.db, [{ workspaceId, month, events: 0, deliveries }])
}

/** The refusal when the allowance is used up. */
export function allowanceExhausted({ clock, upgradeUrl }: Pick<Ctx, 'clock' | 'upgradeUrl'>): Refusal {
  const now = clock.now()
  return new Refusal('delivery_allowance_exhausted', {
    fields: { retry_after: Math.max(1, Math.ceil((nextMonthAt(now) - now) / 1_000)), upgrade_url: upgradeUrl() },
  })
}
