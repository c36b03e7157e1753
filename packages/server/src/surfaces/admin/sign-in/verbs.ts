import { encodeId, type SignInInput, type SignInOutput, type SignInRoutesOf } from '@postroad/contract'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { asSystem } from '../../../as-system.ts'
import type { Ctx } from '../../../context.ts'
import { nextPath } from '../../../domain/people/next-path.ts'
import {
  addPasskey,
  changePassword,
  confirmEmail,
  preparePasskey,
  requestEmail,
  showAccount,
} from '../../../resources/people/account/index.ts'
import { listOwnPasskeys, passkeysWork, removePasskey } from '../../../resources/people/passkeys/index.ts'
import { endOwnSession, endSession, endSessionsOf, listOwnSessions } from '../../../resources/people/sessions/index.ts'
import {
  offerPasskey,
  requestLink,
  requestReset,
  resetPassword,
  signInByLink,
  signInByPasskey,
  signInByPassword,
  type Visit,
} from '../../../resources/people/sign-in/index.ts'
import { auditOwn } from '../../../resources/people/users/index.ts'
import { inTransaction } from '../../../transaction.ts'
import { beginOidc } from './begin-oidc.ts'

/** A response, and the change of the session cookie: a new secret, its end, or no change. */
export type Answered<Output> = {
  readonly body: Output
  readonly cookie?: { readonly secret: string } | 'ended'
  /** A complete additional cookie. */ readonly begun?: string
}

type DoorVerbs = {
  readonly [Name in keyof SignInRoutesOf<'nobody'>]: (
    visit: Visit,
    input: SignInInput<SignInRoutesOf<'nobody'>[Name]>,
  ) => Promise<Answered<SignInOutput<SignInRoutesOf<'nobody'>[Name]>>>
}

/** A person who is signed in: the account, the session of the request, and the context of the verb. */
export type Owner = {
  readonly userId: string
  readonly sessionId: string
  readonly signedInAt: Date
  readonly ctx: Ctx
}

type OwnVerbs = {
  readonly [Name in keyof SignInRoutesOf<'session'>]: (
    owner: Owner,
    input: SignInInput<SignInRoutesOf<'session'>[Name]>,
  ) => Promise<Answered<SignInOutput<SignInRoutesOf<'session'>[Name]>>>
}

const OK = { body: { ok: true } } as const

export const doorVerbs: DoorVerbs = {
  listMethods: async (visit) => {
    const oidc = visit.oidc === undefined ? null : { name: visit.oidc.name }
    return { body: { passkey: passkeysWork(visit), oidc, mail: visit.mailer.kind } }
  },
  signIn: async (visit, input) => {
    const secret = await signInBy(visit, input)
    return { body: { ok: true, next: nextPath(input.next) }, cookie: { secret } }
  },
  signOut: async (visit) => {
    const { requestId, ip, cookieSecret } = visit
    if (cookieSecret !== undefined) {
      await inTransaction({ ...asSystem(visit, { workspaceId: '', projectId: '', requestId }), ip }, (tx) =>
        endSession(tx, cookieSecret),
      )
    }
    return { ...OK, cookie: 'ended' }
  },
  requestLink: async (visit, { email, next }) => {
    await requestLink(visit, { email, next })
    return OK
  },
  offerPasskey: async (visit) => ({ body: { options: { ...(await offerPasskey(visit)) } } }),
  beginOidc: async (visit, { next }) => {
    const { url, cookie } = await beginOidc(visit, next)
    return { body: { url }, begun: cookie }
  },
  requestReset: async (visit, { email }) => {
    await requestReset(visit, { email })
    return OK
  },
  resetPassword: async (visit, { token, new_password: newPassword }) => {
    const secret = await resetPassword(visit, { token, newPassword })
    return { body: { ok: true, next: '/' }, cookie: { secret } }
  },
}

function signInBy(visit: Visit, input: SignInInput<SignInRoutesOf<'nobody'>['signIn']>): Promise<string> {
  if ('token' in input) return signInByLink(visit, input)
  if ('email' in input) return signInByPassword(visit, input)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library checks every member of it
  return signInByPasskey(visit, input.passkey as unknown as AuthenticationResponseJSON)
}

export const ownVerbs: OwnVerbs = {
  showAccount: async (owner) => ({ body: await showAccount(owner.ctx, owner) }),
  requestEmail: async (owner, { email }) => {
    await requestEmail(owner.ctx, { ...owner, email })
    return OK
  },
  confirmEmail: async (owner, { token }) => ({
    body: { ok: true, ...(await confirmEmail(owner.ctx, { ...owner, token })) },
  }),
  changePassword: async (owner, { current_password: current, new_password: next }) => {
    const secret = await changePassword(owner.ctx, { ...owner, current, next })
    return { ...OK, cookie: { secret } }
  },
  listPasskeys: async ({ ctx, userId }) => ({ body: { passkeys: await listOwnPasskeys(ctx, userId) } }),
  preparePasskey: async (owner) => ({ body: { options: { ...(await preparePasskey(owner.ctx, owner)) } } }),
  addPasskey: async (owner, { name, passkey }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library checks every member of it
    const response = passkey as unknown as RegistrationResponseJSON
    return { body: { passkey: await addPasskey(owner.ctx, { ...owner, name, response }) } }
  },
  removePasskey: async ({ ctx, userId }, { id }) => {
    await inTransaction(ctx, (tx) => removePasskey(tx, { id, userId }))
    return OK
  },
  listSessions: async ({ ctx, userId, sessionId }) => {
    const found = await listOwnSessions(ctx, userId)
    const sessions = found.map(({ id, method, ip, user_agent, created_at, last_seen_at, expires_at }) => ({
      id: encodeId('session', id),
      current: id === sessionId,
      method,
      ip,
      user_agent,
      created_at: created_at.toISOString(),
      last_seen_at: last_seen_at.toISOString(),
      expires_at: expires_at.toISOString(),
    }))
    return { body: { sessions } }
  },
  endSession: async ({ ctx, userId, sessionId }, { id }) => {
    await inTransaction(ctx, (tx) => endOwnSession(tx, { id, userId }))
    return id === sessionId ? { ...OK, cookie: 'ended' } : OK
  },
  endAllSessions: async ({ ctx, userId }) => {
    await inTransaction(ctx, async (tx) => {
      const ended = await endSessionsOf(tx, { userId, keep: null })
      await auditOwn(tx, {
        action: 'sign_out_everywhere',
        target: encodeId('user', userId),
        details: { sessions: ended },
      })
    })
    return { ...OK, cookie: 'ended' }
  },
}
