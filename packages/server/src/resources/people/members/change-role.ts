import { encodeId } from '@postroad/contract'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { presentMember } from './present.ts'
import { setRole } from './queries.ts'
import { lockMembers, memberOf, requireAnotherOwner, requireRole } from './membership.ts'

/** The change applies from the next request of the member, for every session and key. */
export const update: Room<'members'>['update'] = (ctx, { id, role }) =>
  inTransaction(ctx, async (tx) => {
    const self = await lockMembers(tx)
    const member = await memberOf(tx, id)
    requireRole(self.role, { least: 'admin', to: 'Changing a role' })
    requireRole(self.role, { least: member.role, to: 'Changing the role of this member' })
    requireRole(self.role, { least: role, to: 'Giving this role' })
    if (member.role === 'owner' && role !== 'owner') await requireAnotherOwner(tx)
    await setRole(tx.db, { workspaceId: tx.workspaceId, userId: id, from: member.role, to: role })
    await audit(tx, { action: 'update_member', target: encodeId('user', id), details: { from: member.role, to: role } })
    return { member: presentMember({ ...member, role }) }
  })
