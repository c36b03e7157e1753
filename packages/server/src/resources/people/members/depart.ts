import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { inTransaction } from '../../../transaction.ts'
import { revokeApiKeysOf } from '../api-keys/index.ts'
import { audit } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { deleteMember } from './queries.ts'
import { holdMembers, memberOf, requireAnotherOwner, requireRole } from './standing.ts'

export const remove: Room<'members'>['remove'] = (ctx, { id }) =>
  inTransaction(ctx, async (tx) => {
    const self = await holdMembers(tx)
    const member = await memberOf(tx, id)
    requireRole(self.role, { least: 'admin', to: 'Removing a member' })
    requireRole(self.role, { least: member.role, to: 'Removing this member' })
    if (member.role === 'owner') await requireAnotherOwner(tx)
    const keys = await endMembership(tx, id)
    await audit(tx, {
      action: 'delete_member',
      target: encodeId('user', id),
      details: { role: member.role, api_keys_revoked: keys },
    })
    return { ok: true }
  })

/**
 * Leaves the workspace that is named, else the one where the session stands. Afterwards the session stands in another one, so a repeat
 * leaves nothing more only when it names the workspace, or has the key of the first.
 */
export const leave: Room<'members'>['leave'] = (ctx, { workspace_id: named }) =>
  inTransaction({ ...ctx, workspaceId: named ?? ctx.workspaceId }, async (tx) => {
    const self = await holdMembers(tx, { otherwise: named === undefined ? 'no_workspace' : 'not_found' })
    if (self.role === 'owner')
      await requireAnotherOwner(
        tx,
        'You are the last owner, so you cannot leave. Transfer the ownership to another member first, or close the workspace.',
      )
    const keys = await endMembership(tx, self.userId)
    await audit(tx, {
      action: 'leave_workspace',
      target: encodeId('user', self.userId),
      details: { role: self.role, api_keys_revoked: keys },
    })
    return { ok: true }
  })

/** The keys are revoked for good: who is invited again later finds none of them at work. */
async function endMembership(tx: Ctx, userId: string): Promise<number> {
  const { workspaceId } = tx
  await deleteMember(tx.db, { workspaceId, userId })
  return revokeApiKeysOf(tx, { userId })
}
