import type { Deps } from '../context.ts'
import { firstDayKept, limitsOf } from '../domain/workspace/plan.ts'
import type { Db } from '../platform/db.ts'
import {
  EXPIRED_TABLES,
  expireDeliveries,
  expireRows,
  keptFrom,
  listWorkspacesWithExpired,
  tryLockErasure,
} from '../resources/workspace/erasure/queries.ts'
import { plansInUse } from '../resources/capture/rejections/queries.ts'

const ROWS_AT_ONCE = 1_000
/** Each with up to a hundred attempts. */
const DELIVERIES_AT_ONCE = 100

/**
 * Events are kept as many days as the plan of their workspace says, and the rest of the day (UTC) that they came on. Days that no
 * plan in use keeps are dropped as a whole; what a shorter plan than `longestDays` keeps no longer is deleted here in small
 * pieces, each a commit of its own. Whatever state a delivery is in, it goes with its event; but from the oldest one on that waits for
 * the allowance all is kept, for that may wait longer than its plan keeps events. Gives how many rows were deleted.
 */
export async function expireShorterPlans(deps: Deps, longestDays: number): Promise<number> {
  let rows = 0
  for (const plan of await plansInUse(deps.database)) {
    const limits = limitsOf(deps.plans, plan)
    // oxlint-disable-next-line no-await-in-loop -- one plan after the other
    if (limits.retention_days < longestDays)
      rows += await expirePlan(deps, { plan, before: firstDayKept(limits, deps.clock.now()) })
  }
  return rows
}

async function expirePlan(deps: Deps, at: { plan: string; before: number }): Promise<number> {
  let rows = 0
  for (const { id: workspaceId } of await listWorkspacesWithExpired(deps.database, at)) {
    // oxlint-disable-next-line no-await-in-loop -- one workspace after the other
    const of = { workspaceId, before: await keptFrom(deps.database, { workspaceId, before: at.before }) }
    // oxlint-disable-next-line no-await-in-loop -- what points at something goes before what it points at
    rows += await inPieces(deps, DELIVERIES_AT_ONCE, (tx, limit) => expireDeliveries(tx, { ...of, limit }))
    for (const table of EXPIRED_TABLES) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      rows += await inPieces(deps, ROWS_AT_ONCE, (tx, limit) => expireRows(tx, table, { ...of, limit }))
    }
  }
  return rows
}

/** One process at a time; another's turn comes within the hour. */
// oxlint-disable-next-line max-params -- with what, how much at once, and what
async function inPieces(
  { database }: Deps,
  limit: number,
  expire: (tx: Db, limit: number) => Promise<number>,
): Promise<number> {
  let sum = 0
  for (let last = limit; last === limit; sum += last) {
    // oxlint-disable-next-line no-await-in-loop, house/verb-guards -- one piece after the other; the plan says what goes, nobody changes anything
    last = await database.transaction(async (tx) => ((await tryLockErasure(tx)) ? expire(tx, limit) : 0))
  }
  return sum
}
