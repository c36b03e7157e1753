import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { DbError } from '../../../platform/db.ts'
import { inTransaction } from '../../../transaction.ts'
import { listIdentities } from '../identities/index.ts'
import { queueMail } from '../mails/index.ts'
import { endTokensOf, mintToken, useToken } from '../one-time-tokens/index.ts'
import { checkRegistration, registrationOptions, storePasskey } from '../passkeys/index.ts'
import { hashNewPassword, hasPassword, isPassword, storePassword } from '../passwords/index.ts'
import { endSessionsOf, renewSession } from '../sessions/index.ts'
import { throttle } from '../throttles/index.ts'
import { auditOwn, findUser, findUserByEmail, setEmail, type UserRow } from '../users/index.ts'

/** A person and their account; `sessionId` is the session of the request, which started with a sign-in at `signedInAt`. */
type Own = { readonly userId: string; readonly sessionId: string; readonly signedInAt: Date }

const DAY_MS = 86_400_000
const MINUTES = LIMITS.mailLinkMs / 60_000
/** Emails to addresses that someone types in: a burst of 5, then one every five minutes. */
const MAILS = { burst: 5, refillMs: 300_000 } as const
const GUESSES = { burst: 10, refillMs: 60_000 } as const

export async function showAccount(ctx: Ctx, { userId }: Own) {
  const [user, withPassword, identities] = await Promise.all([
    own(ctx, userId),
    hasPassword(ctx, userId),
    listIdentities(ctx.db, userId),
  ])
  return {
    user: { id: encodeId('user', user.id), name: user.name, email: user.email },
    has_password: withPassword,
    identities: identities.map(({ issuer, created_at }) => ({ issuer, created_at: created_at.toISOString() })),
  }
}

/**
 * Emails a link to the new address. Only the owner of that address learns whether another account has it. The recent sign-in is checked
 * here and not at the link, because every link of this account was requested after this check.
 */
export async function requestEmail(ctx: Ctx, { userId, email, signedInAt }: Own & { email: string }): Promise<void> {
  requireRecentSignIn(ctx, signedInAt)
  await throttle(ctx, { what: 'email', whose: userId, ...MAILS })
  const holder = await findUserByEmail(ctx.db, email)
  await inTransaction(ctx, async (tx) => {
    const token = await mintToken(tx, { purpose: 'confirm_email', userId, email, lifeMs: LIMITS.mailLinkMs })
    await queueMail(tx, {
      kind: 'confirm_email',
      to: email,
      message: {
        subject: 'Confirm your email address for Postroad',
        lines: [
          'Someone, probably you, wants to use this address for a Postroad account.',
          `The link works once, within ${MINUTES} minutes.`,
        ],
        action: { label: 'Confirm this address', url: `${tx.baseUrl()}/sign-in/email#t=${token}` },
        footnote: 'If it was not you, delete this email. Nothing happens without the link.',
      },
      usefulMs: LIMITS.mailLinkMs,
      void: holder !== undefined && holder.id !== userId,
    })
    await auditOwn(tx, { action: 'request_email_change', target: encodeId('user', userId) })
  })
}

/**
 * Gives the new address to the account that requested it, notifies the previous address, and ends every link emailed to it. Only that account
 * may confirm: otherwise a stranger could be made to confirm their address for another account.
 */
export function confirmEmail(ctx: Ctx, { userId, token }: Own & { token: string }): Promise<{ email: string }> {
  return inTransaction(ctx, async (tx) => {
    const found = await useToken(tx.db, { purpose: 'confirm_email', token, now: tx.clock.now() })
    if (found?.email === undefined || found.email === null || found.user_id !== userId)
      throw refuse(
        'link_over',
        'This link has expired, or another account requested it. Sign in to the account that requested it, or request a new link.',
      )
    const { email } = found
    const user = await own(tx, userId)
    await setEmail(tx.db, { userId, email }).catch((error: unknown) => {
      if (error instanceof DbError && error.constraint === 'users_email') throw refuse('email_taken')
      throw error
    })
    // Runs after setEmail, which locks the row of the person, so that a new link for the previous address waits for it.
    await endTokensOf(tx.db, { userId, now: new Date(tx.clock.now()) })
    await notifyOwner(tx, {
      user,
      kind: 'email_changed',
      line: 'The email address of your Postroad account was changed to another one.',
    })
    await auditOwn(tx, { action: 'change_email', target: encodeId('user', userId) })
    return { email }
  })
}

/** Returns the new secret of the session that made the request. All other sessions end. */
export async function changePassword(
  ctx: Ctx,
  of: Own & { current: string | undefined; next: string },
): Promise<string> {
  const { userId, sessionId, signedInAt, current, next } = of
  const user = await own(ctx, userId)
  if (!(await hasPassword(ctx, userId))) requireRecentSignIn(ctx, signedInAt)
  else {
    await throttle(ctx, { what: 'current password', whose: userId, ...GUESSES })
    if (current === undefined || !(await isPassword(ctx, { userId, password: current }))) throw refuse('wrong_password')
  }
  const hash = await hashNewPassword(ctx, { password: next, email: user.email })
  return inTransaction(ctx, async (tx) => {
    await replacePassword(tx, { user, hash, keep: sessionId })
    await auditOwn(tx, { action: 'change_password', target: encodeId('user', userId) })
    return renewSession(tx, sessionId)
  })
}

/** Stores a new password, ends everything that the old one allows, and notifies the owner. */
export async function replacePassword(
  tx: Ctx,
  of: { user: UserRow; hash: string; keep: string | null },
): Promise<void> {
  const { user, hash, keep } = of
  await storePassword(tx, { userId: user.id, hash })
  await endTokensOf(tx.db, { userId: user.id, now: new Date(tx.clock.now()) })
  await endSessionsOf(tx, { userId: user.id, keep })
  await notifyOwner(tx, {
    user,
    kind: 'password_changed',
    line: 'The password of your Postroad account was changed, and all other sessions were signed out.',
  })
}

/** A passkey signs in, so without this check it would turn any old session into a recent one. */
export async function preparePasskey(ctx: Ctx, { userId, signedInAt }: Own) {
  requireRecentSignIn(ctx, signedInAt)
  return registrationOptions(ctx, await own(ctx, userId))
}

export async function addPasskey(
  ctx: Ctx,
  of: Own & { name: string; response: Parameters<typeof checkRegistration>[1]['response'] },
) {
  const { userId, name, response } = of
  const user = await own(ctx, userId)
  const registered = await checkRegistration(ctx, { userId, response })
  // oxlint-disable-next-line house/verb-guards -- storePasskey writes it
  return inTransaction(ctx, async (tx) => {
    await notifyOwner(tx, {
      user,
      kind: 'passkey_added',
      line: 'A passkey was added to your Postroad account. You can now sign in with it.',
    })
    return storePasskey(tx, { ...registered, userId, name })
  })
}

/** Prevents someone who finds an old session open from taking over the account. */
function requireRecentSignIn({ clock }: Ctx, signedInAt: Date): void {
  if (clock.now() - signedInAt.getTime() > LIMITS.recentSignInMs) throw refuse('recent_sign_in_required')
}

async function own(ctx: Ctx, userId: string): Promise<UserRow> {
  const user = await findUser(ctx.db, userId)
  if (user === undefined) throw refuse('unauthorized')
  return user
}

/** Notifies the owner of every change. An account without an address gets no email. */
async function notifyOwner(tx: Ctx, of: { user: UserRow; kind: string; line: string }): Promise<void> {
  const { user, kind, line } = of
  if (user.email === null) return
  const footnote =
    'If it was not you, set a new password immediately, and check the sessions and passkeys of your account.'
  await queueMail(tx, {
    kind,
    to: user.email,
    message: {
      subject: 'Your Postroad account was changed',
      lines: [line],
      action: { label: 'My account', url: `${tx.baseUrl()}/account` },
      footnote,
    },
    usefulMs: DAY_MS,
  })
}
