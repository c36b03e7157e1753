import { LIMITS } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import type { LanesChange } from '../../../features.ts'
import { monthOf } from '../../../domain/workspace/month.ts'
import { limitsOf } from '../../../domain/workspace/plan.ts'
import { SeparateRows, type LoopWork } from '../../../platform/separate-rows.ts'
import { separately } from '../../../platform/separately.ts'
import { inTransaction } from '../../../transaction.ts'
import { countOutcomes, countOutcomesOf, scan, type Found } from '../deliveries/index.ts'
import { lanesChanged } from '../lanes/index.ts'
import { readsPayloads } from '../../capture/payloads/index.ts'
import { lockAllowance, useAllowance, type Allowance } from '../../workspace/usage/index.ts'
import { afterOf, wantedBy } from './filter.ts'
import {
  lockReplay,
  listDueReplays,
  listStoppedReplays,
  makeDue,
  restartReplay,
  saveProgress,
  type HeldReplay,
  type Slot,
} from './queries.ts'

/** A page is made due this far ahead, each delivery at its time, so the pace does not depend on when the loop runs. */
const AHEAD_MS = 1_500
/** A replay gets its next page when less than this is left of the previous one. It is longer than the time between two runs. */
const LEFT_MS = 750
const AT_ONCE = 20
/** Bounds one run, so that a process stops soon when asked. */
const ROUNDS_MAX = 25
const SCANNED_WITH_PAYLOADS_MAX = 500
const COUNTED_AT_ONCE = 2_000

/**
 * Counts outcomes, and advances running replays as far as their pace allows, one page each in turn. Several processes may
 * do so at once. Counts pages.
 */
export async function advanceReplays(deps: Deps): Promise<LoopWork> {
  const rows = new SeparateRows(deps.retryLog, 'replay.not_advanced')
  const parts = [() => countEnded(deps), () => restartStopped(deps, rows), () => advanceDue(deps, rows)]
  await separately(parts, (part) => part())
  return rows.outcome
}

async function advanceDue(deps: Deps, rows: SeparateRows): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const before = new Date(deps.clock.now() + LEFT_MS)
    // oxlint-disable-next-line no-await-in-loop -- round after round
    const due = await listDueReplays(deps.database, { before, without: rows.failed, limit: AT_ONCE })
    for (const { workspace_id: workspaceId, project_id: projectId, id } of due)
      // oxlint-disable-next-line no-await-in-loop -- one page at a time: replays must not crowd out live deliveries
      await rows.run({ kind: 'replay', id }, () => advance(deps, { workspaceId, projectId, id }))
    if (due.length === 0) break
  }
}

/** Outcomes of replayed deliveries are counted after the turns that settle them, so that turns do no extra work. */
async function countEnded({ database }: Deps): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- piece after piece, each a commit
    if ((await countOutcomes(database, COUNTED_AT_ONCE)) < COUNTED_AT_ONCE) return
  }
}

/** Restarts the replays that the allowance stopped, once the month has turned or the plan has changed. */
async function restartStopped({ database, clock, plans }: Deps, rows: SeparateRows): Promise<void> {
  const now = clock.now()
  for (const { workspace_id: workspaceId, project_id: projectId, id, plan, used } of await listStoppedReplays(
    database,
    monthOf(now),
  )) {
    const max = limitsOf(plans, plan).deliveries_per_month
    if (max !== null && used >= max) continue
    const at = { workspaceId, projectId, id, now: new Date(now) }
    // oxlint-disable-next-line no-await-in-loop -- rare: one after another
    await rows.run({ kind: 'replay', id }, () => restartReplay(database.forWorkspace(workspaceId), at))
  }
}

/** One page, in one commit with the new cursor: a process that dies before the commit has done nothing. */
async function advance(
  deps: Deps,
  { id, ...at }: { workspaceId: string; projectId: string; id: string },
): Promise<void> {
  const database = deps.database.forWorkspace(at.workspaceId)
  const ctx = { ...asSystem(deps, { ...at, requestId: 'replay' }), database, db: database }
  // oxlint-disable-next-line house/verb-guards -- the start of the replay was audited; these are its pages
  await inTransaction(ctx, async (tx) => {
    const replay = await lockReplay(tx.db, { ...at, id })
    if (replay === undefined) return
    const lanes = await nextPage(tx, replay)
    tx.afterCommit(() => lanesChanged(deps, { lanes, disabled: false }))
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
  // Ingest locks the same month, so the lock is taken for the change and not for the search.
  const allowance = found.rows.length === 0 ? null : await lockAllowance(tx)
  const { rows, reached, stopped } = within(found, allowance)
  const slots = rows.map((row, index) => ({ id: row.id, at: momentOf(index) }))
  const made = slots.length === 0 ? [] : await sendAgain(tx, replay, { slots, now: new Date(now) })
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

/** Their outcomes count for the earlier replay before this replay takes them. */
async function sendAgain(tx: Ctx, replay: HeldReplay, { slots, now }: { slots: readonly Slot[]; now: Date }) {
  await countOutcomesOf(tx.db, { ...tx, ids: slots.map(({ id }) => id) })
  return makeDue(tx.db, { ...tx, replayId: replay.id, slots, states: replay.filter.state, now })
}

/** Limits a page to the deliveries that the allowance has left. The replay stops at the first one beyond. */
function within(
  { rows, reached }: Pick<Found, 'rows' | 'reached'>,
  allowance: Allowance | null,
): Pick<Found, 'rows' | 'reached'> & { readonly stopped: boolean } {
  if (allowance === null || rows.length <= allowance.left) return { rows, reached, stopped: false }
  const fitting = rows.slice(0, allowance.left)
  return { rows: fitting, reached: fitting.at(-1)?.id ?? null, stopped: true }
}
