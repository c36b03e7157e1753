import { encodeId, LIMITS } from '@postroad/contract'
import { roleReaches } from '../../../domain/people/actor.ts'
import { insufficientRole } from '../../../domain/people/access.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { throttle } from '../throttles/index.ts'
import type { Room } from '../../verbs.ts'
import { personOf } from '../../workspace/workspaces/index.ts'
import { reserveInvite } from './member-limit.ts'
import { presentInvite } from './present.ts'
import { countInvites, findInvite, insertInvite, isMemberByEmail } from './queries.ts'
import { mailInvite, mintInviteToken } from './send.ts'

/** Emails to strangers from one workspace: a burst of 100, then one a minute. */
const MAILS = { burst: 100, refillMs: 60_000 } as const

export const create: Room<'invites'>['create'] = async (ctx, { email, role }) => {
  const { userId, role: own } = personOf(ctx)
  if (!roleReaches(own, role)) {
    const text = `You cannot invite to a higher role than your own, and yours is ${own}. Choose that role or a lower one.`
    throw insufficientRole(text)
  }
  const { workspaceId } = ctx
  await throttle(ctx, { what: 'invites', whose: workspaceId, ...MAILS })
  return inTransaction(ctx, async (tx) => {
    const workspace = await reserveInvite(tx, { workspaceId, email })
    if (await isMemberByEmail(tx.db, { workspaceId, email }))
      throw refuse('invalid_state', 'A member of the workspace already has this address, so no invite is needed.')
    if ((await countInvites(tx.db, workspaceId)) >= LIMITS.invitesOpenMax)
      throw refuse(
        'invalid_state',
        `The workspace already has ${LIMITS.invitesOpenMax} open invites. Revoke some first.`,
      )
    const id = tx.uuid()
    const { token, tokenHash, expiresAt } = mintInviteToken(tx)
    const inserted = await insertInvite(tx.db, {
      workspaceId,
      id,
      email,
      role,
      invitedBy: userId,
      tokenHash,
      expiresAt,
      now: new Date(tx.clock.now()),
    })
    if (inserted === 0)
      throw refuse('invalid_state', 'This address is already invited. Send that invite again, or revoke it first.')
    const link = await mailInvite(tx, { to: email, role, workspace: workspace.name, userId, token })
    await audit(tx, { action: 'create_invite', target: encodeId('invite', id), details: { email, role } })
    const row = await findInvite(tx.db, { workspaceId, id })
    if (row === undefined) throw new Error(`The invite ${encodeId('invite', id)} disappeared during its creation.`)
    return { invite: presentInvite(tx, row), link }
  })
}
