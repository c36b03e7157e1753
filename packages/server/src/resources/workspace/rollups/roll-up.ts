import type { Deps } from '../../../context.ts'
import type { Db } from '../../../platform/db.ts'
import { countFlows, putFlowHours, putFlows } from './flows/queries.ts'
import { fold } from './fold.ts'
import {
  countAttempts,
  countRejections,
  countSubmissions,
  findProgress,
  firstMoment,
  listOpenMinutes,
  nextMomentWithData,
  putDestinationHours,
  putDestinations,
  putProgress,
  putProjectHours,
  putProjects,
  tryLockRollups,
} from './queries.ts'
import { closedAfter, floorTo, GRACE_MS, HOUR_MS, MINUTE_MS, minutesToCount } from './spans.ts'

/** The most minutes with open attempts that one run reads again. */
const REOPENED_AT_ONCE_MAX = 10
/** A run rests for at least this many times its duration, so that the writer takes at most 2 % of one connection. */
const REST_FACTOR = 49
/** When the writer is further behind than this, it skips to the next row, so it does not count each idle minute. */
const BEHIND_MS = 600_000

/** The writer of the rollups, called every few seconds: it counts, and then rests in proportion. */
export function createRollUp(deps: Deps): () => Promise<void> {
  let restUntil = 0
  return async () => {
    const begun = deps.clock.now()
    if (begun < restUntil) return
    await rollUp(deps)
    const ended = deps.clock.now()
    restUntil = ended + REST_FACTOR * (ended - begun)
  }
}

/**
 * Counts one minute per transaction, under a lock that it does not wait for, because several processes may do so. If a process dies, the
 * next run continues; a minute that is counted twice has the same result.
 */
export async function rollUp(deps: Deps): Promise<void> {
  const { database } = deps
  const now = deps.clock.now()
  const progress = await findProgress(database)
  const recorded = floorTo(
    (progress?.closed_until ?? (await firstMoment(database)) ?? new Date(now)).getTime(),
    MINUTE_MS,
  )
  const from = await behindIdle(database, { recorded, now })
  const minutes = minutesToCount({ closedUntil: from, rolledAt: progress?.rolled_at.getTime() ?? 0, now })
  for (const minute of minutes) {
    // oxlint-disable-next-line no-await-in-loop -- one minute after another
    if (!(await alone(deps, (tx) => recount(tx, minute)))) return
  }
  const closedUntil = closedAfter({ closedUntil: from, now }, minutes)
  await alone(deps, async (tx) => {
    await putHours(tx, { from: recorded, to: closedUntil })
    for (const { minute } of await listOpenMinutes(tx, { before: new Date(recorded), limit: REOPENED_AT_ONCE_MAX })) {
      // oxlint-disable-next-line no-await-in-loop -- one minute after another
      await recount(tx, minute.getTime())
      // oxlint-disable-next-line no-await-in-loop -- as above
      await putHours(tx, {
        from: minute.getTime(),
        to: Math.min(floorTo(minute.getTime(), HOUR_MS) + HOUR_MS, closedUntil),
      })
    }
    await putProgress(tx, { closedUntil: new Date(closedUntil), rolledAt: new Date(now) })
  })
}

/** False when another process is counting. */
function alone({ database }: Deps, work: (tx: Db) => Promise<void>): Promise<boolean> {
  // oxlint-disable-next-line house/verb-guards -- counts changes that were audited
  return database.transaction(async (tx) => {
    if (!(await tryLockRollups(tx))) return false
    await work(tx)
    return true
  })
}

/** The minute to continue from, after minutes that are empty and will stay empty. */
async function behindIdle(db: Db, { recorded, now }: { recorded: number; now: number }): Promise<number> {
  const settled = floorTo(now - GRACE_MS - MINUTE_MS, MINUTE_MS)
  if (now - recorded < BEHIND_MS) return recorded
  const next = await nextMomentWithData(db, { from: recorded })
  return Math.max(recorded, Math.min(settled, next === undefined ? settled : floorTo(next, MINUTE_MS)))
}

async function recount(tx: Db, minute: number): Promise<void> {
  const range = { from: minute, to: minute + MINUTE_MS }
  const attempts = await countAttempts(tx, range)
  const submissions = await countSubmissions(tx, range)
  const rejections = await countRejections(tx, range)
  const { projects, destinations } = fold({ attempts, submissions, rejections })
  if (destinations.length > 0) await putDestinations(tx, { at: new Date(minute), rows: destinations })
  if (projects.length > 0) await putProjects(tx, { at: new Date(minute), rows: projects })
  const flows = await countFlows(tx, range)
  if (flows.length > 0) await putFlows(tx, { at: new Date(minute), rows: flows })
}

/** Writes the hours that end before `to`, from the hour that contains `from` on. */
async function putHours(tx: Db, { from, to }: { from: number; to: number }): Promise<void> {
  const hours = { from: new Date(floorTo(from, HOUR_MS)), to: new Date(floorTo(to, HOUR_MS)) }
  if (hours.from >= hours.to) return
  await putDestinationHours(tx, hours)
  await putProjectHours(tx, hours)
  await putFlowHours(tx, hours)
}
