import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../audit/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { close, reopen } from './close.ts'
import { create } from './create.ts'
import { presentOwn, presentWorkspace } from './present.ts'
import { findWorkspace, listWorkspacesOf, lockWorkspaceById, renameWorkspace, type WorkspaceRow } from './queries.ts'
import { personOf } from './person.ts'
import { switchWorkspace } from './switch.ts'

export { personOf } from './person.ts'
export {
  changePlan,
  listWorkspaceStatuses,
  reinstateWorkspace,
  reinstateWorkspaceById,
  suspendWorkspace,
  suspendWorkspaceById,
  type WorkspaceStatus,
} from './suspend.ts'
export { suspendedRefusal } from './suspended-refusal.ts'
export {
  countMembers,
  countOwned,
  findFirstWorkspace,
  findOwner,
  findWorkspace,
  listWorkspacesOf,
  lockOwner,
  lockWorkspaceById,
  insertMember,
  insertOwner,
  insertWorkspace,
} from './queries.ts'

export const workspaces: Room<'workspaces'> = {
  list: async (ctx, { limit, cursor }) => {
    const { userId } = personOf(ctx)
    const found = await listWorkspacesOf(ctx.db, { userId, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { workspaces: rows.map((row) => presentOwn(row, { current: ctx.workspaceId })), next_cursor }
  },

  create,

  switch: switchWorkspace,

  get: async (ctx) => ({ workspace: await presentWorkspace(ctx, await own(ctx)) }),

  update: (ctx, { name }) =>
    inTransaction(ctx, async (tx) => {
      const held = await lockWorkspaceById(tx.db, tx.workspaceId)
      const row = await renameWorkspace(tx.db, { id: tx.workspaceId, name })
      await audit(tx, {
        action: 'update_workspace',
        target: encodeId('workspace', row.id),
        details: { name },
        change: { before: { name: held?.name ?? null }, after: { name: row.name } },
      })
      return { workspace: await presentWorkspace(tx, row) }
    }),

  close,

  reopen,
}

async function own(ctx: Ctx): Promise<WorkspaceRow> {
  const row = await findWorkspace(ctx.db, ctx.workspaceId)
  if (row === undefined) throw refuse('not_found')
  return row
}
