import { LIMITS } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import type { LanesChange } from '../../../features.ts'
import { monthOf } from '../../../domain/workspace/month.ts'
import { limitsOf } from '../../../domain/workspace/plan.ts'
import { inTransaction } from '../../../transaction.ts'
import { scan, type Found } from '../deliveries/index.ts'
import { lanesChanged } from '../lanes/index.ts'
import { readsPayloads } from '../../capture/payloads/index.ts'
import { holdAllowance, useAllowance, type Allowance } from '../../workspace/usage/index.ts'
import { afterOf, wantedBy } from './filter.ts'
import {
  holdReplay,
  listDueReplays,
  listStoppedReplays,
  makeDue,
  restartReplay,
  saveProgress,
  type HeldReplay,
} from './queries.ts'

/** A page is made due this long ahead, each of its deliveries at its own moment, so that the pace does not hang on when we run. */
const AHEAD_MS = 1_500
/** A replay gets its next page when less than this is left of the one before: more than the time between two runs. */
const LEFT_MS = 750
const AT_ONCE = 20
/** So that a process that is asked to stop does so soon. */
const ROUNDS_MAX = 25
const SCANNED_WITH_PAYLOADS_MAX = 500

/** Brings every replay that runs as far as its pace allows, one page each in turn. Several processes may do so at once. */
export async function advanceReplays(deps: Deps): Promise<void> {
  await restartStopped(deps)
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- round after round
    const due = await listDueReplays(deps.database, { before: new Date(deps.clock.now() + LEFT_MS), limit: AT_ONCE })
    // oxlint-disable-next-line no-await-in-loop -- page after page: replays must not crowd out what is being sent
    for (const at of due) await advance(deps, { workspaceId: at.workspace_id, projectId: at.project_id, id: at.id })
    if (due.length === 0) return
  }
}

/** Those that came to the end of the allowance go on when the month has turned, or the plan has changed. */
async function restartStopped({ database, clock, plans }: Deps): Promise<void> {
  const now = clock.now()
  for (const { workspace_id: workspaceId, project_id: projectId, id, plan, used } of await listStoppedReplays(
    database,
    monthOf(now),
  )) {
    const max = limitsOf(plans, plan).deliveries_per_month
    // oxlint-disable-next-line no-await-in-loop -- rare: one after the other
    if (max === null || used < max)
      await restartReplay(database.forWorkspace(workspaceId), { workspaceId, projectId, id, now: new Date(now) })
  }
}

/** One page in one commit with the place that it has come to: whoever dies before it has done nothing, after it all of it. */
async function advance(
  deps: Deps,
  { id, ...at }: { workspaceId: string; projectId: string; id: string },
): Promise<void> {
  const database = deps.database.forWorkspace(at.workspaceId)
  const ctx = { ...asSystem(deps, { ...at, requestId: 'replay' }), database, db: database }
  // oxlint-disable-next-line house/verb-guards -- whoever began the replay was audited then; these are its pages
  await inTransaction(ctx, async (tx) => {
    const replay = await holdReplay(tx.db, { ...at, id })
    if (replay === undefined) return
    const lanes = await nextPage(tx, replay)
    tx.afterCommit(() => lanesChanged(deps, { lanes, halted: false }))
  })
}

async function nextPage(tx: Ctx, replay: HeldReplay): Promise<LanesChange['lanes']> {
  const now = Math.ceil(tx.clock.now())
  const wanted = wantedBy(replay.filter)
  const start = Math.max(now, replay.next_at.getTime())
  const most = Math.max(1, Math.ceil(((now + AHEAD_MS - start) * replay.rate_per_second) / 1_000))
  const found = await scan(tx, {
    wanted,
    after: replay.cursor ?? afterOf(replay.filter),
    before: replay.upto,
    newestFirst: false,
    limit: most,
    scannedMax: readsPayloads(wanted) ? SCANNED_WITH_PAYLOADS_MAX : LIMITS.replayScannedPerPageMax,
  })
  const momentOf = (index: number): Date => new Date(start + Math.ceil((index * 1_000) / replay.rate_per_second))
  // Ingest counts under the same month, so it is held for the change and not for the search.
  const allowance = found.rows.length === 0 ? null : await holdAllowance(tx)
  const { rows, reached, stopped } = within(found, allowance)
  const slots = rows.map((row, index) => ({ id: row.id, at: momentOf(index) }))
  const made =
    slots.length === 0 ? [] : await makeDue(tx.db, { ...tx, slots, states: replay.filter.state, now: new Date(now) })
  if (allowance !== null) await useAllowance(tx, allowance, made.length)
  await saveProgress(tx.db, {
    ...tx,
    id: replay.id,
    cursor: reached ?? rows.at(-1)?.id ?? null,
    replayed: made.length,
    skipped: slots.length - made.length,
    nextAt: momentOf(slots.length),
    over: reached === null && !stopped,
    stopped,
    now: new Date(now),
  })
  return [...new Set(made.map((row) => row.destination_id))].map((destinationId) => ({
    workspaceId: tx.workspaceId,
    destinationId,
  }))
}

/** No more than the allowance has room for; the replay stops before what goes beyond it. */
function within({ rows, reached }: Found, allowance: Allowance | null): Found & { readonly stopped: boolean } {
  if (allowance === null || rows.length <= allowance.left) return { rows, reached, stopped: false }
  const fitting = rows.slice(0, allowance.left)
  return { rows: fitting, reached: fitting.at(-1)?.id ?? null, stopped: true }
}
