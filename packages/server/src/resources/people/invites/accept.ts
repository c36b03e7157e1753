import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { moveSession } from '../sessions/index.ts'
import { findUser } from '../users/index.ts'
import type { Room } from '../../verbs.ts'
import { insertMember, personOf } from '../../workspace/workspaces/index.ts'
import { lockInviting, requireRoomForMember } from './member-limit.ts'
import { deleteInvite, lockByToken, type InviteRow } from './queries.ts'

/**
 * Accepts an invite, which uses it up: a later request with the same link finds none. The session switches to the workspace. A person who
 * is already a member retains their role.
 */
export const accept: Room<'invites'>['accept'] = (ctx, { token }) => {
  const { userId, sessionId } = personOf(ctx)
  return inTransaction(ctx, async (tx) => {
    const invite = await lockByToken(tx.db, hashCredential(token))
    if (invite === undefined || invite.expires_at.getTime() <= tx.clock.now()) throw refuse('invite_over')
    await requireInvited(tx, { userId, invite })
    const { workspace_id: workspaceId, id, role } = invite
    const workspace = await lockInviting(tx, workspaceId)
    await requireRoomForMember(tx, workspace)
    const { slug, name } = workspace
    if ((await insertMember(tx.db, { workspaceId, userId, role, now: new Date(tx.clock.now()) })) === 0) {
      throw refuse('invalid_state', 'You are already a member of this workspace. Switch to it.')
    }
    await deleteInvite(tx.db, { workspaceId, id })
    await moveSession(tx, { id: sessionId, workspaceId })
    await audit(
      { ...tx, workspaceId },
      { action: 'accept_invite', target: encodeId('invite', id), details: { user: encodeId('user', userId), role } },
    )
    return { workspace: { id: encodeId('workspace', workspaceId), slug, name }, role }
  })
}

/** The address of an account is always proven. */
async function requireInvited(tx: Ctx, { userId, invite }: { userId: string; invite: InviteRow }): Promise<void> {
  const user = await findUser(tx.db, userId)
  if (user?.email?.toLowerCase() !== invite.email.toLowerCase()) throw refuse('invite_for_another')
}
