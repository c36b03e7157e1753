import { encodeId, LIMITS, type ReplayPlan } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { checkConditions } from '../../check-conditions.ts'
import { allowanceExhausted } from '../../workspace/usage/index.ts'
import { afterOf, uptoOf, wantedBy } from './filter.ts'
import { planReplay } from './plan.ts'
import { presentReplay } from './present.ts'
import { countOpenReplays, insertReplay, type ReplayRow, type StoredFilter } from './queries.ts'

type Asked = { readonly filter: StoredFilter; readonly ratePerSecond: number }

/** The plan of a replay with this filter. */
export function planOf(ctx: Ctx, { filter, ratePerSecond }: Asked): Promise<ReplayPlan> {
  const wanted = wantedBy(filter)
  checkConditions(wanted.conditions, 'filter.conditions')
  return planReplay(ctx, { after: afterOf(filter), upto: uptoOf(ctx, filter), wanted, ratePerSecond })
}

/** Inserts a running replay in the caller's transaction; null when its plan is empty. The caller writes the audit row. */
export async function beginReplay(
  tx: Ctx,
  { filter, ratePerSecond, plan, kind }: Asked & { plan: ReplayPlan; kind: ReplayRow['kind'] },
) {
  if (plan.complete && plan.count === 0) return null
  if (plan.allowance?.left === 0) throw allowanceExhausted(tx)
  if ((await countOpenReplays(tx.db, tx)) >= LIMITS.replaysOpenMax) throw refuse('replay_limit_reached')
  const row = await insertReplay(tx.db, {
    ...tx,
    id: tx.uuid(),
    kind,
    filter,
    rate_per_second: ratePerSecond,
    total: plan.complete ? plan.count : null,
    upto: uptoOf(tx, filter),
    now: new Date(tx.clock.now()),
  })
  return presentReplay(row)
}

/** The part of a replay that its audit row records, never the search text. */
export function auditDetails({ filter, ratePerSecond, plan }: Asked & { plan: ReplayPlan }): Record<string, unknown> {
  const { destination_id } = filter
  return {
    count: plan.count,
    rate_per_second: ratePerSecond,
    ...(destination_id === undefined ? {} : { destination_id: encodeId('destination', destination_id) }),
  }
}
