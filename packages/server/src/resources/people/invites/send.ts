import { LIMITS, type Role } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { mintSecret } from '../../mint.ts'
import { queueMail } from '../mails/index.ts'
import { endLinksTo, mintToken } from '../one-time-tokens/index.ts'
import { findUser, findUserByEmail } from '../users/index.ts'
import { isOperator } from '../../operate/operators/index.ts'

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

/**
 * Queues the email, and returns the link if there is no mail server. The token is in the fragment of the URL, which no server or log
 * ever sees.
 */
export async function mailInvite(tx: Ctx, invitation: Invitation): Promise<string | null> {
  const { to, role, workspace, userId, token } = invitation
  const inviter = await findUser(tx.db, userId)
  const page = `/invites/accept#t=${token}`
  const message = {
    subject: `You are invited to ${workspace} on Postroad`,
    lines: [
      `${inviter?.name ?? 'Someone'} invites you to the workspace ${workspace} as ${role}.`,
      `Sign in with this address, ${to}, to accept. The link works once, within ${DAYS} days.`,
    ],
    action: { label: 'View the invite', url: `${tx.baseUrl()}${page}` },
    footnote: 'If you do not know this person, delete this email. Nothing happens without the link.',
  }
  await queueMail(tx, { kind: 'invite', to, message, usefulMs: LIMITS.inviteMs })
  if (tx.mailer.kind === 'smtp') return null
  return `${tx.baseUrl()}${(await signingIn(tx, { email: to, userId, page })) ?? page}`
}

/**
 * Signs a person without an account in on the way to the page. Only an operator gets this link, because operators can read every
 * link of the outbox anyway. With the link of any other admin, the person must prove the address. Earlier links end.
 */
async function signingIn(
  tx: Ctx,
  { email, userId, page }: { readonly email: string; readonly userId: string; readonly page: string },
): Promise<string | undefined> {
  // The tokens belong to no workspace, so this transaction cannot write them. Without the commit, nobody sees the new one.
  const system = { ...tx, db: tx.database.forSystem }
  await endLinksTo(system.db, { email, now: new Date(tx.clock.now()) })
  const isNew = (await findUserByEmail(system.db, email)) === undefined
  if (!isNew || !(await isOperator(system, userId))) return undefined
  const t = await mintToken(system, { purpose: 'sign_in', userId: null, email, lifeMs: LIMITS.inviteMs })
  return `/sign-in/link#${new URLSearchParams({ t, next: page }).toString()}`
}
