import type { Deps } from '../context.ts'
import { firstDayRetained, limitsOf } from '../domain/workspace/plan.ts'
import type { Db } from '../platform/db.ts'
import { SeparateRows } from '../platform/separate-rows.ts'
import {
  EXPIRED_TABLES,
  expireDeliveries,
  expireRows,
  retainedFrom,
  listWorkspacesWithExpired,
  tryLockErasure,
} from '../resources/workspace/erasure/queries.ts'
import { plansInUse } from '../resources/capture/rejections/queries.ts'

const ROWS_AT_ONCE = 1_000
/** Each delivery has up to a hundred attempts. */
const DELIVERIES_AT_ONCE = 100

/**
 * Events are retained for the days of their workspace's plan, plus the rest of the day (UTC) on which they came. Upkeep drops
 * whole days; this deletes the rows of plans shorter than `longestDays`, in small pieces. A delivery goes with its event.
 * Everything since the oldest delivery that waits for the allowance stays. Returns the number of deleted rows.
 */
export async function expireShorterPlans(deps: Deps, longestDays: number): Promise<number> {
  const run = { deps, rows: new SeparateRows(deps.retryLog, 'events.not_expired') }
  let sum = 0
  for (const plan of await plansInUse(deps.database)) {
    const limits = limitsOf(deps.plans, plan)
    if (limits.retention_days >= longestDays) continue
    // oxlint-disable-next-line no-await-in-loop -- one plan after another
    sum += await expirePlan(run, { plan, before: firstDayRetained(limits, deps.clock.now()) })
  }
  run.rows.report()
  return sum
}

type Run = { readonly deps: Deps; readonly rows: SeparateRows }

async function expirePlan({ deps, rows }: Run, at: { plan: string; before: number }): Promise<number> {
  let sum = 0
  for (const { id } of await listWorkspacesWithExpired(deps.database, at)) {
    const work = () => expireWorkspace(deps, { workspaceId: id, before: at.before })
    // oxlint-disable-next-line no-await-in-loop -- one workspace after another
    sum += (await rows.run({ kind: 'workspace', id }, work)) ?? 0
  }
  return sum
}

async function expireWorkspace(deps: Deps, at: { workspaceId: string; before: number }): Promise<number> {
  const of = { ...at, before: await retainedFrom(deps.database, at) }
  // Referencing rows go before the rows that they reference.
  let sum = await inPieces(deps, DELIVERIES_AT_ONCE, (tx, limit) => expireDeliveries(tx, { ...of, limit }))
  for (const table of EXPIRED_TABLES) {
    // oxlint-disable-next-line no-await-in-loop -- as above
    sum += await inPieces(deps, ROWS_AT_ONCE, (tx, limit) => expireRows(tx, table, { ...of, limit }))
  }
  return sum
}

/** One process at a time. If another one has the lock, the next attempt comes within the hour. */
// oxlint-disable-next-line max-params -- dependencies, the size of a piece, and the work
async function inPieces(
  { database }: Deps,
  limit: number,
  expire: (tx: Db, limit: number) => Promise<number>,
): Promise<number> {
  let sum = 0
  for (let last = limit; last === limit; sum += last) {
    // oxlint-disable-next-line no-await-in-loop, house/verb-guards -- one piece after another; the plan decides, and no person acts
    last = await database.transaction(async (tx) => ((await tryLockErasure(tx)) ? expire(tx, limit) : 0))
  }
  return sum
}
