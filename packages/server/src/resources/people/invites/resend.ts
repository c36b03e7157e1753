import { encodeId } from '@postroad/contract'
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
import { findInvite, renewInvite } from './queries.ts'
import { mailInvite, mintInviteToken } from './send.ts'

/** Emails about one invite: a burst of 3, then one every five minutes. */
const MAILS = { burst: 3, refillMs: 300_000 } as const

/** The new link replaces the previous one, and is valid for as long as a new invite. */
export const resend: Room<'invites'>['resend'] = async (ctx, { id }) => {
  const { userId, role: own } = personOf(ctx)
  const at = { workspaceId: ctx.workspaceId, id }
  const row = await findInvite(ctx.db, at)
  if (row === undefined) throw refuse('not_found')
  if (!roleReaches(own, row.role)) {
    const text = `Sending this invite requires the ${row.role} role, and yours is ${own}. Ask an owner of the workspace.`
    throw insufficientRole(text)
  }
  await throttle(ctx, { what: 'invite', whose: id, ...MAILS })
  return inTransaction(ctx, async (tx) => {
    const workspace = await reserveInvite(tx, { workspaceId: tx.workspaceId, email: row.email })
    const { token, tokenHash, expiresAt } = mintInviteToken(tx)
    if ((await renewInvite(tx.db, { ...at, tokenHash, expiresAt })) === 0) throw refuse('not_found')
    const link = await mailInvite(tx, { to: row.email, role: row.role, workspace: workspace.name, userId, token })
    await audit(tx, { action: 'resend_invite', target: encodeId('invite', id), details: { email: row.email } })
    return { invite: presentInvite(tx, { ...row, expires_at: expiresAt }), link }
  })
}
