import { LIMITS } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Deps } from '../../../context.ts'
import { SeparateRows, type LoopWork } from '../../../platform/separate-rows.ts'
import { separately } from '../../../platform/separately.ts'
import { inTransaction } from '../../../transaction.ts'
import { resumeDeleted } from '../../delivery/destinations/index.ts'
import { eraseOld, eraseSnapshots, listResuming, setResumed, type Resuming } from '../snapshots/index.ts'

const RESUMING_AT_ONCE = 20
/** Bounds one run, so that a process stops soon when asked. */
const PIECES_MAX = 50
const ERASED_AT_ONCE = 1_000

/**
 * Erases the copies that can no longer be restored, and resumes the deliveries of restored destinations that did not
 * fit into the commit of the restore, piece by piece. Counts pieces.
 */
export async function finishDeletions(deps: Deps): Promise<LoopWork> {
  const now = deps.clock.now()
  const rows = new SeparateRows(deps.retryLog, 'deletion.not_resumed')
  const parts = [
    () => eraseSnapshots(deps.database, { before: new Date(now), limit: ERASED_AT_ONCE }),
    () => eraseOld(deps.database, { before: new Date(now - LIMITS.deletionShownMs), limit: ERASED_AT_ONCE }),
    () => resumeRestored(deps, rows),
  ]
  await separately<() => Promise<unknown>>(parts, (part) => part())
  return rows.outcome
}

async function resumeRestored(deps: Deps, rows: SeparateRows): Promise<void> {
  for (let pieces = 0; pieces < PIECES_MAX;) {
    // oxlint-disable-next-line no-await-in-loop -- round after round
    const resuming = await listResuming(deps.database, { without: rows.failed, limit: RESUMING_AT_ONCE })
    if (resuming.length === 0) break
    for (const one of resuming)
      // oxlint-disable-next-line no-await-in-loop -- one piece at a time: it must not crowd out live deliveries
      await rows.run({ kind: 'deletion', id: one.id }, () => resumePiece(deps, one))
    pieces += resuming.length
  }
}

async function resumePiece(deps: Deps, of: Resuming): Promise<void> {
  const at = { workspaceId: of.workspace_id, projectId: of.project_id }
  const database = deps.database.forWorkspace(at.workspaceId)
  const ctx = { ...asSystem(deps, { ...at, requestId: 'deletions' }), database, db: database }
  // oxlint-disable-next-line house/verb-guards -- the restore was audited; these are its pieces
  await inTransaction(ctx, async (tx) => {
    const { resource_id: id, deleted_at: deletedAt, restored_at: restoredAt } = of
    const { more } = await resumeDeleted(tx, { id, deletedAt, restoredAt })
    if (!more) await setResumed(tx.db, { ...at, id: of.id })
  })
}
