import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { presentMember } from './present.ts'
import { setRole } from './queries.ts'
import { lockMembers, memberOf, requireRole } from './membership.ts'

/** Runs in one commit, so that the workspace is never without an owner. */
export const transferOwnership: Room<'members'>['transferOwnership'] = (ctx, { user_id: userId }) =>
  inTransaction(ctx, async (tx) => {
    const self = await lockMembers(tx)
    requireRole(self.role, { least: 'owner', to: 'Transferring the ownership' })
    const member = await memberOf(tx, userId)
    if (userId === self.userId) throw refuse('invalid_state', 'You are already the owner. Name another member.')
    const { workspaceId } = tx
    await setRole(tx.db, { workspaceId, userId, from: member.role, to: 'owner' })
    await setRole(tx.db, { workspaceId, userId: self.userId, from: 'owner', to: 'admin' })
    await audit(tx, {
      action: 'transfer_ownership',
      target: encodeId('user', userId),
      details: { from: encodeId('user', self.userId) },
    })
    return { member: presentMember({ ...member, role: 'owner' }) }
  })
