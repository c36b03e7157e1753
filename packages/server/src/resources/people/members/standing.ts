import type { Reason, Role } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { roleReaches } from '../../../domain/people/actor.ts'
import { insufficientRole } from '../../../domain/people/access.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findMember } from '../users/index.ts'
import { holdWorkspace, personOf } from '../../workspace/workspaces/index.ts'
import { countOwners, findMemberRow, type MemberRow } from './queries.ts'

/**
 * Holds the workspace, so that who is in it changes one after the other, and gives the caller's role as it is then: what the
 * ladder saw may have ended meanwhile. `otherwise`: why who is not in it is refused.
 */
export async function holdMembers(
  tx: Ctx,
  { otherwise = 'unauthorized' }: { otherwise?: Reason } = {},
): Promise<{ readonly userId: string; readonly role: Role }> {
  const { userId } = personOf(tx)
  await holdWorkspace(tx.db, tx.workspaceId)
  const self = await findMember(tx.db, { workspaceId: tx.workspaceId, userId })
  if (self === undefined) throw refuse(otherwise)
  return { userId, role: self.role }
}

export async function memberOf(tx: Ctx, userId: string): Promise<MemberRow> {
  const member = await findMemberRow(tx.db, { workspaceId: tx.workspaceId, userId })
  if (member === undefined) throw refuse('not_found')
  return member
}

/** Nobody acts on, or gives, a role above their own. */
export function requireRole(own: Role, { least, to }: { least: Role; to: string }): void {
  if (roleReaches(own, least)) return
  throw insufficientRole(`${to} needs the role ${least}, and yours is ${own}. Ask an owner of the workspace.`)
}

export async function requireAnotherOwner(tx: Ctx, text?: string): Promise<void> {
  if ((await countOwners(tx.db, tx.workspaceId)) <= 1) throw refuse('last_owner', text)
}
