import { z } from 'zod'
import { idInput, idOutput } from './ids.ts'
import { LIMITS } from './limits.ts'
import { Email } from './list.ts'

const Password = z.string().min(1).max(LIMITS.passwordCharsMax)
const Token = z.string().min(1).max(100).describe('The token of a link: the text after "#t=".')
const Next = z
  .string()
  .max(2_000)
  .optional()
  .describe('Where to go on afterwards: a path of this server. Anything else becomes "/".')
/** What the browser's `navigator.credentials` gives, as its `toJSON()` writes it; checked by the WebAuthn library. */
const PasskeyResponse = z.looseObject({
  id: z.string().min(1).max(2_000),
  rawId: z.string(),
  type: z.literal('public-key'),
  response: z.looseObject({}),
})
const PasskeyOptions = z
  .looseObject({ challenge: z.string() })
  .describe('For PublicKeyCredential.parseCreationOptionsFromJSON or parseRequestOptionsFromJSON.')

const Ok = z.object({ ok: z.literal(true) })
const SignedIn = z.object({ ok: z.literal(true), next: z.string().describe('Where to go on: a path of this server.') })
const time = z.string().describe('RFC 3339')

type Fields = z.ZodObject | undefined

/**
 * One route of signing in, or of one's own account, as a value. They stand under `/admin/api/` and give or need the session
 * cookie; no API key can call them, so they have no role and no scope.
 */
export type SignInRoute<
  Caller extends 'nobody' | 'session' = 'nobody' | 'session',
  Params extends Fields = Fields,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Output extends z.ZodType = z.ZodType,
> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly summary: string
  readonly description: string
  /** `session`: the cookie of somebody who is signed in. `nobody`: anyone may call it. */
  readonly caller: Caller
  readonly params?: Params
  readonly body?: Body
  readonly output: Output
}

function route<
  const Caller extends 'nobody' | 'session',
  const Params extends Fields = undefined,
  const Body extends z.ZodType | undefined = undefined,
  const Output extends z.ZodType = z.ZodType,
>(of: SignInRoute<Caller, Params, Body, Output>): SignInRoute<Caller, Params, Body, Output> {
  return of
}

export const signInRoutes = {
  listMethods: route({
    method: 'GET',
    path: 'session/methods',
    summary: 'Ways to sign in here',
    description:
      'What a sign-in page may offer. `mail` is `outbox` when no mail server is set: mails lie as files in the data folder.',
    caller: 'nobody',
    output: z.object({
      passkey: z.boolean(),
      oidc: z.object({ name: z.string() }).nullable(),
      mail: z.enum(['smtp', 'outbox']),
    }),
  }),
  signIn: route({
    method: 'POST',
    path: 'session',
    summary: 'Sign in',
    description:
      'By email and password, by the token of a one-time link, or by a passkey. Sets the cookie `service_session` with a new session; one that the request carried is ended. 401 `sign_in_failed` says the same for an unknown account and a wrong password; 429 `too_many_attempts` says when to try again.',
    caller: 'nobody',
    body: z.union([
      z.strictObject({ email: Email, password: Password, next: Next }),
      z.strictObject({ token: Token, next: Next }),
      z.strictObject({ passkey: PasskeyResponse, next: Next }),
    ]),
    output: SignedIn,
  }),
  signOut: route({
    method: 'DELETE',
    path: 'session',
    summary: 'Sign out',
    description:
      'Ends the session at once, on every node, and takes the cookie back. Without a session it does nothing.',
    caller: 'nobody',
    output: Ok,
  }),
  requestLink: route({
    method: 'POST',
    path: 'session/links',
    summary: 'Send me a link',
    description:
      'Mails a link that signs in once, within 15 minutes. The answer is the same whether or not an account has this address.',
    caller: 'nobody',
    body: z.strictObject({ email: Email, next: Next }),
    output: Ok,
  }),
  offerPasskey: route({
    method: 'POST',
    path: 'session/passkey-options',
    summary: 'Begin to sign in by passkey',
    description:
      'Options for the browser, good for 5 minutes and one try. No account is named: the passkey says whose it is.',
    caller: 'nobody',
    body: z.strictObject({}),
    output: z.object({ options: PasskeyOptions }),
  }),
  beginOidc: route({
    method: 'POST',
    path: 'session/oidc',
    summary: 'Start to sign in with the identity provider',
    description:
      'Gives the address to send the browser to. A cookie of 10 minutes stores the state until the browser returns. `GET session/oidc` does the same by a redirect, for links. 404 `oidc_not_configured` without a provider, 502 `identity_provider_error` when it does not answer.',
    caller: 'nobody',
    body: z.strictObject({ next: Next }),
    output: z.object({ url: z.string() }),
  }),
  requestReset: route({
    method: 'POST',
    path: 'account/password-reset',
    summary: 'Forgot my password',
    description:
      'Mails a link that sets a new password once, within 15 minutes. The answer is the same whether or not an account has this address.',
    caller: 'nobody',
    body: z.strictObject({ email: Email }),
    output: Ok,
  }),
  resetPassword: route({
    method: 'PUT',
    path: 'account/password-reset',
    summary: 'Set a new password by link',
    description:
      'Ends every session of the account and starts a new one. 400 `weak_password` says what a password needs; the link then stays valid.',
    caller: 'nobody',
    body: z.strictObject({ token: Token, new_password: Password }),
    output: SignedIn,
  }),
  confirmEmail: route({
    method: 'PUT',
    path: 'account/email',
    summary: 'Confirm my email address by link',
    description:
      'To be called by the account that asked for it: a link that somebody else asked for gives them nothing.',
    caller: 'session',
    body: z.strictObject({ token: Token }),
    output: z.object({ ok: z.literal(true), email: z.string() }),
  }),
  showAccount: route({
    method: 'GET',
    path: 'account',
    summary: 'My account',
    description: 'Who is signed in, and by what they can sign in.',
    caller: 'session',
    output: z.object({
      user: z.object({ id: idOutput('user'), name: z.string(), email: z.string().nullable() }),
      has_password: z.boolean(),
      identities: z.array(z.object({ issuer: z.string(), created_at: time })),
    }),
  }),
  requestEmail: route({
    method: 'POST',
    path: 'account/email',
    summary: 'Change my email address',
    description:
      'Mails a link to the new address; it becomes the address of the account when the link is used, within 15 minutes. Then every link that was mailed to the previous address ends. Needs a sign-in within the last 15 minutes (403 `recent_sign_in_required`).',
    caller: 'session',
    body: z.strictObject({ email: Email }),
    output: Ok,
  }),
  changePassword: route({
    method: 'PUT',
    path: 'account/password',
    summary: 'Change my password',
    description:
      'Needs `current_password` when there is one (403 `wrong_password`); a first password needs a sign-in within the last 15 minutes instead (403 `recent_sign_in_required`). Ends all other sessions and gives this one a new cookie.',
    caller: 'session',
    body: z.strictObject({ current_password: Password.optional(), new_password: Password }),
    output: Ok,
  }),
  listPasskeys: route({
    method: 'GET',
    path: 'account/passkeys',
    summary: 'My passkeys',
    description: 'The newest first.',
    caller: 'session',
    output: z.object({
      passkeys: z.array(
        z.object({ id: idOutput('passkey'), name: z.string(), created_at: time, last_used_at: time.nullable() }),
      ),
    }),
  }),
  preparePasskey: route({
    method: 'POST',
    path: 'account/passkeys/options',
    summary: 'Begin to add a passkey',
    description:
      'Options for the browser, good for 5 minutes and one try. Needs a sign-in within the last 15 minutes (403 `recent_sign_in_required`).',
    caller: 'session',
    body: z.strictObject({}),
    output: z.object({ options: PasskeyOptions }),
  }),
  addPasskey: route({
    method: 'POST',
    path: 'account/passkeys',
    summary: 'Add a passkey',
    description:
      'What the browser made of the options. 401 `passkey_refused` when it is not for this server, or too late.',
    caller: 'session',
    body: z.strictObject({ name: z.string().trim().min(1).max(LIMITS.nameCharsMax), passkey: PasskeyResponse }),
    output: z.object({ passkey: z.object({ id: idOutput('passkey'), name: z.string() }) }),
  }),
  removePasskey: route({
    method: 'DELETE',
    path: 'account/passkeys/{id}',
    summary: 'Remove a passkey',
    description: 'It signs nobody in any more.',
    caller: 'session',
    params: z.object({ id: idInput('passkey') }),
    output: Ok,
  }),
  listSessions: route({
    method: 'GET',
    path: 'account/sessions',
    summary: 'Where I am signed in',
    description: 'My sessions that are not over, the one used last first; `current` is the one that asks.',
    caller: 'session',
    output: z.object({
      sessions: z.array(
        z.object({
          id: idOutput('session'),
          current: z.boolean(),
          method: z.enum(['password', 'link', 'passkey', 'oidc']),
          ip: z.string().nullable(),
          user_agent: z.string().nullable(),
          created_at: time,
          last_seen_at: time,
          expires_at: time,
        }),
      ),
    }),
  }),
  endSession: route({
    method: 'DELETE',
    path: 'account/sessions/{id}',
    summary: 'Sign out one session',
    description: 'Takes effect at once, on every node.',
    caller: 'session',
    params: z.object({ id: idInput('session') }),
    output: Ok,
  }),
  endAllSessions: route({
    method: 'DELETE',
    path: 'account/sessions',
    summary: 'Sign out everywhere',
    description: 'Ends every session of the account, this one too.',
    caller: 'session',
    output: Ok,
  }),
} as const

export type SignInRoutes = typeof signInRoutes
type Parsed<F> = F extends z.ZodType ? z.output<F> : unknown
/** The routes that anyone, or somebody signed in, may call. */
export type SignInRoutesOf<Caller> = {
  [Name in keyof SignInRoutes as SignInRoutes[Name]['caller'] extends Caller ? Name : never]: SignInRoutes[Name]
}
export type SignInInput<R> = R extends SignInRoute<infer _C, infer P, infer B> ? Parsed<P> & Parsed<B> : never
export type SignInOutput<R> = R extends { readonly output: infer O extends z.ZodType } ? z.input<O> : never
