import type { Reason, Role } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { roleReaches } from '../../../domain/people/actor.ts'
import { insufficientRole } from '../../../domain/people/access.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findMember } from '../users/index.ts'
import { lockWorkspaceById, personOf } from '../../workspace/workspaces/index.ts'
import { countOwners, findMemberRow, type MemberRow } from './queries.ts'

/**
 * Locks the workspace, so that changes of its members run one after another, and returns the current role of the
 * caller, which may have changed since the ladder. `otherwise` is the reason to refuse a caller who is not a member.
 */
export async function lockMembers(
  tx: Ctx,
  { otherwise = 'unauthorized' }: { otherwise?: Reason } = {},
): Promise<{ readonly userId: string; readonly role: Role }> {
  const { userId } = personOf(tx)
  await lockWorkspaceById(tx.db, tx.workspaceId)
  const self = await findMember(tx.db, { workspaceId: tx.workspaceId, userId })
  if (self === undefined) throw refuse(otherwise)
  return { userId, role: self.role }
}

export async function memberOf(tx: Ctx, userId: string): Promise<MemberRow> {
  const member = await findMemberRow(tx.db, { workspaceId: tx.workspaceId, userId })
  if (member === undefined) throw refuse('not_found')
  return member
}

/** No member may change a member above their own role, or give a role above it. */
export function requireRole(own: Role, { least, to }: { least: Role; to: string }): void {
  if (roleReaches(own, least)) return
  throw insufficientRole(`${to} requires the ${least} role, and yours is ${own}. Ask an owner of the workspace.`)
}

export async function requireAnotherOwner(tx: Ctx, text?: string): Promise<void> {
  if ((await countOwners(tx.db, tx.workspaceId)) <= 1) throw refuse('last_owner', text)
}
