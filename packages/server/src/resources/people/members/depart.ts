import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { inTransaction } from '../../../transaction.ts'
import { revokeApiKeysOf } from '../api-keys/index.ts'
import { revokeAgentsOf } from '../connected-agents/index.ts'
import { audit } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { deleteMember } from './queries.ts'
import { lockMembers, memberOf, requireAnotherOwner, requireRole } from './membership.ts'

export const remove: Room<'members'>['remove'] = (ctx, { id }) =>
  inTransaction(ctx, async (tx) => {
    const self = await lockMembers(tx)
    const member = await memberOf(tx, id)
    requireRole(self.role, { least: 'admin', to: 'Removing a member' })
    requireRole(self.role, { least: member.role, to: 'Removing this member' })
    if (member.role === 'owner') await requireAnotherOwner(tx)
    const ended = await endMembership(tx, id)
    await audit(tx, {
      action: 'delete_member',
      target: encodeId('user', id),
      details: { role: member.role, ...ended },
    })
    return { ok: true }
  })

/**
 * Leaves the named workspace, or the current one of the session. Afterwards the session works in another workspace, so a repeat leaves
 * nothing more only if it names the workspace or has the same idempotency key.
 */
export const leave: Room<'members'>['leave'] = (ctx, { workspace_id: named }) =>
  inTransaction({ ...ctx, workspaceId: named ?? ctx.workspaceId }, async (tx) => {
    const self = await lockMembers(tx, { otherwise: named === undefined ? 'no_workspace' : 'not_found' })
    if (self.role === 'owner')
      await requireAnotherOwner(
        tx,
        'You are the last owner, so you cannot leave. Transfer the ownership to another member first, or close the workspace.',
      )
    const ended = await endMembership(tx, self.userId)
    await audit(tx, {
      action: 'leave_workspace',
      target: encodeId('user', self.userId),
      details: { role: self.role, ...ended },
    })
    return { ok: true }
  })

/** Keys and agents are revoked for good: a person who is invited again later does not get them back. */
async function endMembership(
  tx: Ctx,
  userId: string,
): Promise<{ readonly api_keys_revoked: number; readonly agents_revoked: number }> {
  const { workspaceId } = tx
  await deleteMember(tx.db, { workspaceId, userId })
  return {
    api_keys_revoked: await revokeApiKeysOf(tx, { userId }),
    agents_revoked: await revokeAgentsOf(tx, { userId }),
  }
}
