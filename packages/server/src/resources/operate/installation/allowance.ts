import { monthOf } from '../../../domain/workspace/month.ts'
import type { Plans } from '../../../domain/workspace/plan.ts'
import type { Db } from '../../../platform/db.ts'
import { countWaitingBelow } from './queries.ts'

/** The time that the release of deliveries may take after the turn of a month. */
const SPARE_MS = 60_000

/** Deliveries that wait for an allowance although it has room in this month, or the plan has none. */
export async function countWaitingWithRoom(db: Db, now: Date, plans: Plans): Promise<number> {
  const month = monthOf(now.getTime())
  if (now.getTime() - Date.parse(month) < SPARE_MS) return 0
  const names = Object.keys(plans)
  const limits = Object.values(plans).map((plan) => plan.deliveries_per_month)
  return countWaitingBelow(db, {
    month,
    names,
    limits,
    otherwise: plans.self_hosted.deliveries_per_month,
    before: new Date(now.getTime() - SPARE_MS),
  })
}
