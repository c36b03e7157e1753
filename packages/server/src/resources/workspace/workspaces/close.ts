import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { setRunsPaused } from '../../automation/ai-runs/index.ts'
import { haltInstances, resumeInstances } from '../../automation/workflow-instances/pauses/index.ts'
import { audit } from '../audit/index.ts'
import { workspaceConfigChanged } from '../projects/index.ts'
import type { Room } from '../../verbs.ts'
import { moveDeliveries, notifyLanesDisabled } from './move-deliveries.ts'
import { presentWorkspace } from './present.ts'
import { lockWorkspaceById, setClosed, type WorkspaceRow } from './queries.ts'

/** From the commit on, Postroad accepts and sends nothing for the workspace, as if it were suspended. */
export const close: Room<'workspaces'>['close'] = async (ctx, { confirm }) => {
  const answer = await inTransaction(ctx, async (tx) => {
    const held = await lockOwn(tx)
    if (confirm !== held.slug)
      throw refuse('invalid_request', 'confirm must be the slug of this workspace. Nothing was closed.')
    if (held.closed_at !== null) throw refuse('workspace_closed')
    const now = new Date(tx.clock.now())
    const row = await setClosed(tx.db, { id: held.id, closedAt: now })
    await notifyLanesDisabled(tx)
    await setRunsPaused(tx.db, { workspaceId: held.id, pausedAt: row.closed_at })
    await haltInstances(tx.db, { workspaceId: held.id, now })
    await workspaceConfigChanged(tx)
    await audit(tx, {
      action: 'close_workspace',
      target: encodeId('workspace', held.id),
      change: { before: closedAt(held), after: closedAt(row) },
    })
    return { workspace: await presentWorkspace(tx, row) }
  })
  await moveDeliveries(ctx, { workspaceId: ctx.workspaceId, reason: 'workspace_closed' })
  return answer
}

/** Makes paused deliveries due immediately. After the grace period it refuses, even before upkeep deletes anything. */
export const reopen: Room<'workspaces'>['reopen'] = async (ctx) => {
  const answer = await inTransaction(ctx, async (tx) => {
    const held = await lockOwn(tx)
    if (held.closed_at === null) return { workspace: await presentWorkspace(tx, held) }
    const now = new Date(tx.clock.now())
    if (held.closed_at.getTime() + LIMITS.workspaceGraceMs <= now.getTime())
      throw refuse(
        'workspace_closed',
        'This workspace was closed too long ago to be reopened. Its data is being deleted; create another workspace.',
      )
    const row = await setClosed(tx.db, { id: held.id, closedAt: null })
    if (row.suspended_at === null) await setRunsPaused(tx.db, { workspaceId: held.id, pausedAt: null })
    await resumeInstances(tx.db, { workspaceId: held.id, now })
    await workspaceConfigChanged(tx)
    await audit(tx, {
      action: 'reopen_workspace',
      target: encodeId('workspace', held.id),
      change: { before: closedAt(held), after: closedAt(row) },
    })
    return { workspace: await presentWorkspace(tx, row) }
  })
  await moveDeliveries(ctx, { workspaceId: ctx.workspaceId, reason: null })
  return answer
}

const closedAt = ({ closed_at }: WorkspaceRow): object => ({ closed_at: closed_at?.toISOString() ?? null })

async function lockOwn(tx: Ctx): Promise<WorkspaceRow> {
  const held = await lockWorkspaceById(tx.db, tx.workspaceId)
  if (held === undefined) throw refuse('not_found')
  return held
}
