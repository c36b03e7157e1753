import { LIMITS, type Role } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { mintSecret } from '../../mint.ts'
import { queueMail } from '../mails/index.ts'
import { findUser } from '../users/index.ts'

const DAYS = LIMITS.inviteMs / 86_400_000

/** A token for an invite. The database stores its hash, and only the email contains its text. */
export function mintInviteToken(tx: Pick<Ctx, 'randomText' | 'clock'>) {
  const token = mintSecret(tx)
  return { token, tokenHash: hashCredential(token), expiresAt: new Date(tx.clock.now() + LIMITS.inviteMs) }
}

type Invitation = {
  readonly to: string
  readonly role: Role
  readonly workspace: string
  readonly userId: string
  readonly token: string
}

/** Queues the email. The token is in the fragment of the URL, which no server or log ever sees. */
export async function mailInvite(tx: Ctx, { to, role, workspace, userId, token }: Invitation): Promise<void> {
  const inviter = await findUser(tx.db, userId)
  const message = {
    subject: `You are invited to ${workspace} on Postroad`,
    lines: [
      `${inviter?.name ?? 'Someone'} invites you to the workspace ${workspace} as ${role}.`,
      `Sign in with this address, ${to}, to accept. The link works once, within ${DAYS} days.`,
    ],
    action: { label: 'View the invite', url: `${tx.baseUrl()}/invites/accept#t=${token}` },
    footnote: 'If you do not know this person, delete this email. Nothing happens without the link.',
  }
  await queueMail(tx, { kind: 'invite', to, message, usefulMs: LIMITS.inviteMs })
}
