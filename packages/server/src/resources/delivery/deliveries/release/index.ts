import { asSystem } from '../../../../as-system.ts'
import type { Deps } from '../../../../context.ts'
import { monthOf } from '../../../../domain/workspace/month.ts'
import { limitsOf } from '../../../../domain/workspace/plan.ts'
import { SeparateRows, type LoopWork } from '../../../../platform/separate-rows.ts'
import { inTransaction } from '../../../../transaction.ts'
import { lockAllowance, useAllowance } from '../../../workspace/usage/index.ts'
import { lanesChanged } from '../../lanes/index.ts'
import { listWaitingWorkspaces, lockWaiting, release, type WaitingWorkspace } from './queries.ts'
import { notifyUsedUp } from './notify-used-up.ts'

/** Rows per commit. Each commit locks the month in which ingest counts. */
const RELEASED_AT_ONCE = 500
/** Bounds one run, so that a process stops soon when asked. */
const ROUNDS_MAX = 40

/**
 * Releases deliveries that wait for the allowance, as far as the month or the plan has room. Oldest first, one batch of each
 * workspace in turn. Several processes may do so at the same time. Counts the released ones.
 */
export async function releaseWaiting(deps: Deps): Promise<LoopWork> {
  let sum = 0
  const rows = new SeparateRows(deps.retryLog, 'allowance.not_released')
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- round after round
    const waiting = await listWaitingWorkspaces(deps.database, monthOf(deps.clock.now()))
    let released = 0
    for (const workspace of waiting) {
      const work = () => (hasRoom(deps, workspace) ? releaseSome(deps, workspace.id) : notifyOnce(deps, workspace))
      // oxlint-disable-next-line no-await-in-loop -- one batch at a time: ingest locks the same month
      released += (await rows.run({ kind: 'workspace', id: workspace.id }, work)) ?? 0
    }
    if (released === 0) break
    sum += released
  }
  return { ...rows.outcome, rows: sum }
}

function hasRoom({ plans }: Deps, { plan, used }: WaitingWorkspace): boolean {
  const max = limitsOf(plans, plan).deliveries_per_month
  return max === null || used < max
}

/** The deliveries count in the month of their release, in the same commit. Returns how many were released. */
async function releaseSome(deps: Deps, workspaceId: string): Promise<number> {
  const database = deps.database.forWorkspace(workspaceId)
  const ctx = { ...asSystem(deps, { workspaceId, projectId: '', requestId: 'allowance' }), database, db: database }
  // oxlint-disable-next-line house/verb-guards -- the month or the plan releases them; no person changes anything
  return inTransaction(ctx, async (tx) => {
    const allowance = await lockAllowance(tx)
    const rows = await lockWaiting(tx.db, {
      workspaceId,
      limit: Math.min(RELEASED_AT_ONCE, allowance?.left ?? Infinity),
    })
    if (rows.length === 0) return 0
    const released = await release(tx.db, { workspaceId, rows, now: new Date(tx.clock.now()) })
    if (allowance !== null) await useAllowance(tx, allowance, released)
    const lanes = [...new Set(rows.map((row) => row.destination_id))].map((destinationId) => ({
      workspaceId,
      destinationId,
    }))
    tx.afterCommit(() => lanesChanged(deps, { lanes, disabled: false }))
    return released
  })
}

async function notifyOnce(deps: Deps, { id, plan, told }: WaitingWorkspace): Promise<0> {
  if (!told) await notifyUsedUp(deps, { workspaceId: id, max: limitsOf(deps.plans, plan).deliveries_per_month ?? 0 })
  return 0
}
