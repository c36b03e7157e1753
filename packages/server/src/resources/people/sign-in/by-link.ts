import { LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { EmailText } from '../../../domain/people/email-text.ts'
import { nextPath } from '../../../domain/people/next-path.ts'
import { refuse } from '../../../domain/refusal.ts'
import { queueMail } from '../mails/index.ts'
import { endOwnerLinks, mintToken, useToken } from '../one-time-tokens/index.ts'
import { throttle } from '../throttles/index.ts'
import { lockUserByEmail } from '../users/index.ts'
import { findOwner } from '../../workspace/workspaces/index.ts'
import { accountOfProven, mayBegin } from './invited.ts'
import { atTheDoor, throttleNetwork, welcome, type Visit } from './visit.ts'

/** Emails to one address: a burst of 3, then one every five minutes. */
const MAILS = { burst: 3, refillMs: 300_000 } as const
const MINUTES = LIMITS.mailLinkMs / 60_000

/** Signs in with the token of a link, once. Links carry it in the fragment and a POST uses it up, so no email scanner can use it. */
export async function signInByLink(visit: Visit, { token }: { token: string }): Promise<string> {
  await throttleNetwork(visit)
  return atTheDoor(visit, async (tx) => {
    const found = await useToken(tx.db, { purpose: 'sign_in', token, now: tx.clock.now() })
    // A person with a link that was emailed to an invited address has proven the address.
    const userId = found?.user_id ?? (await accountOfInvited(tx, found?.email))
    if (found === undefined || userId === undefined) throw refuse('link_over')
    return welcome(visit, tx, { userId, method: 'link', workspaceId: found.workspace_id })
  })
}

/** The link of a revoked invite opens no account. */
async function accountOfInvited(tx: Ctx, email: string | null | undefined): Promise<string | undefined> {
  if (typeof email !== 'string' || !(await mayBegin(tx, email))) return undefined
  return accountOfProven(tx, { email })
}

/** Emails a sign-in link, also to an invited person without an account. Nothing in the response reveals whether there is an account. */
export function requestLink(visit: Visit, { email, next }: { email: string; next: string | undefined }): Promise<void> {
  const go = nextPath(next)
  return mailLink(visit, {
    email,
    purpose: 'sign_in',
    kind: 'sign_in_link',
    path: '/sign-in/link',
    ...(go === '/' ? {} : { next: go }),
    message: SIGN_IN,
  })
}

/** Emails a link that sets a new password once. */
export function requestReset(visit: Visit, { email }: { email: string }): Promise<void> {
  return mailLink(visit, {
    email,
    purpose: 'reset_password',
    kind: 'password_reset',
    path: '/sign-in/reset',
    message: RESET,
  })
}

type Asked = {
  readonly email: string
  readonly purpose: 'sign_in' | 'reset_password'
  readonly kind: string
  readonly path: string
  readonly next?: string
  readonly message: (url: string) => EmailText
}

async function mailLink(visit: Visit, { email, purpose, kind, path, next, message }: Asked): Promise<void> {
  await throttleNetwork(visit)
  await throttle(visit, { what: kind, whose: email.toLowerCase(), ...MAILS })
  const invited = await mayBegin(visit, email)
  await atTheDoor(visit, async (tx) => {
    const user = await lockUserByEmail(tx.db, email)
    const opens = user !== undefined || (invited && purpose === 'sign_in')
    const token = await mintToken(tx, {
      purpose,
      userId: user?.id ?? null,
      ...(user === undefined && opens ? { email } : {}),
      lifeMs: LIMITS.mailLinkMs,
    })
    const url = `${tx.baseUrl()}${path}#${new URLSearchParams({ t: token, ...(next === undefined ? {} : { next }) }).toString()}`
    await queueMail(tx, {
      kind,
      to: user?.email ?? email,
      message: message(url),
      usefulMs: LIMITS.mailLinkMs,
      void: !opens,
    })
  })
}

const SIGN_IN = (url: string): EmailText => ({
  subject: 'Your Postroad sign-in link',
  lines: [
    'Someone, probably you, requested a link to sign in to Postroad.',
    `It works once, within ${MINUTES} minutes.`,
  ],
  action: { label: 'Sign in', url },
  footnote: 'If it was not you, delete this email. Nothing happens without the link.',
})

const RESET = (url: string): EmailText => ({
  subject: 'Set a new password for Postroad',
  lines: [
    'Someone, probably you, requested a new password for your Postroad account.',
    `The link works once, within ${MINUTES} minutes.`,
  ],
  action: { label: 'Set a new password', url },
  footnote: 'If it was not you, delete this email. Your password does not change.',
})

const OWNER_LINK_MS = 3_600_000

/** A link that signs the owner of the workspace in once, within an hour, for the operator of the machine. The previous one ends. */
export async function mintOwnerLink(tx: Ctx): Promise<string> {
  const owner = await findOwner(tx.db, tx.workspaceId)
  if (owner === undefined) throw new Error('The workspace has no owner to sign in.')
  await endOwnerLinks(tx.db, { workspaceId: tx.workspaceId, now: new Date(tx.clock.now()) })
  return mintToken(tx, { purpose: 'sign_in', userId: owner.id, workspaceId: tx.workspaceId, lifeMs: OWNER_LINK_MS })
}

export const ownerLinkUrl = (tx: Ctx, token: string): string => `${tx.baseUrl()}/#t=${token}`
