import { z } from 'zod'
import { idInput, idOutput } from './ids.ts'
import { LIMITS } from './limits.ts'
import { Email, Name, Text } from './list.ts'

/** `smtp`: a mail server sends emails. `outbox`: none is set, so an operator hands them over. */
export const MAIL_MODES = ['smtp', 'outbox'] as const
export type MailMode = (typeof MAIL_MODES)[number]

const Password = z.string().min(1).max(LIMITS.passwordCharsMax)
const Token = z.string().min(1).max(100).describe('The token of a link: the text after "#t=".')
const Next = z
  .string()
  .optional()
  .describe('The path of this server to continue at, of at most 2,000 characters. Any other value becomes "/".')
/** The result of the browser's `navigator.credentials`, as `toJSON()` writes it. The WebAuthn library checks it. */
const PasskeyResponse = z.looseObject({
  id: Text.min(1).max(2_000),
  rawId: Text,
  type: z.literal('public-key'),
  response: z.looseObject({}),
})
const PasskeyOptions = z
  .looseObject({ challenge: z.string() })
  .describe('For PublicKeyCredential.parseCreationOptionsFromJSON or parseRequestOptionsFromJSON.')

const Ok = z.object({ ok: z.literal(true) })
const SignedIn = z.object({ ok: z.literal(true), next: z.string().describe('The path of this server to continue at.') })
const time = z.string().describe('RFC 3339')

type Fields = z.ZodObject | undefined

/**
 * One route for signing in, or for a person's account, as a value. These routes are under `/admin/api/` and give or need the session
 * cookie. No API key can call them, so they have no role and no scope.
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
  /** `session`: needs the cookie of a person who is signed in. `nobody`: anyone may call it. */
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
    summary: 'List the ways to sign in',
    description:
      'The methods that a sign-in page may offer. `mail` is `outbox` when no mail server is set: emails are then files in the data folder.',
    caller: 'nobody',
    output: z.object({
      passkey: z.boolean(),
      oidc: z.object({ name: z.string() }).nullable(),
      mail: z.enum(MAIL_MODES),
    }),
  }),
  signIn: route({
    method: 'POST',
    path: 'session',
    summary: 'Sign in',
    description:
      'Signs in by email and password, by the token of a one-time link, or by a passkey. Sets the cookie `service_session` with a new session and ends the session that the request carried. 401 `sign_in_failed` is the same for an unknown account and a wrong password; 429 `too_many_attempts` contains the time to wait.',
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
    description: 'Ends the session at once, on every node, and removes the cookie. Without a session it does nothing.',
    caller: 'nobody',
    output: Ok,
  }),
  requestLink: route({
    method: 'POST',
    path: 'session/links',
    summary: 'Request a sign-in link',
    description:
      'Emails a link that signs in once, within 15 minutes. The response is the same whether or not an account has this address.',
    caller: 'nobody',
    body: z.strictObject({ email: Email, next: Next }),
    output: Ok,
  }),
  offerPasskey: route({
    method: 'POST',
    path: 'session/passkey-options',
    summary: 'Start a passkey sign-in',
    description:
      'Options for the browser, valid for 5 minutes and one attempt. The request names no account, because the passkey identifies it.',
    caller: 'nobody',
    body: z.strictObject({}),
    output: z.object({ options: PasskeyOptions }),
  }),
  beginOidc: route({
    method: 'POST',
    path: 'session/oidc',
    summary: 'Start a sign-in with the identity provider',
    description:
      'Returns the address to send the browser to. A cookie stores the state for 10 minutes, until the browser returns. `GET session/oidc` does the same with a redirect, for links. 404 `oidc_not_configured` without a provider, 502 `identity_provider_error` when it does not respond.',
    caller: 'nobody',
    body: z.strictObject({ next: Next }),
    output: z.object({ url: z.string() }),
  }),
  requestReset: route({
    method: 'POST',
    path: 'account/password-reset',
    summary: 'Request a password reset',
    description:
      'Emails a link that sets a new password once, within 15 minutes. The response is the same whether or not an account has this address.',
    caller: 'nobody',
    body: z.strictObject({ email: Email }),
    output: Ok,
  }),
  resetPassword: route({
    method: 'PUT',
    path: 'account/password-reset',
    summary: 'Set a new password with a link',
    description:
      'Ends every session of the account and starts a new one. 400 `weak_password` contains the requirements, and the link then stays valid.',
    caller: 'nobody',
    body: z.strictObject({ token: Token, new_password: Password }),
    output: SignedIn,
  }),
  confirmEmail: route({
    method: 'PUT',
    path: 'account/email',
    summary: 'Confirm an email address with a link',
    description:
      'Call this with the account that requested the change. A link that someone else requested has no effect.',
    caller: 'session',
    body: z.strictObject({ token: Token }),
    output: z.object({ ok: z.literal(true), email: z.string() }),
  }),
  showAccount: route({
    method: 'GET',
    path: 'account',
    summary: 'Get the account',
    description: 'The person who is signed in, and their ways to sign in.',
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
    summary: 'Change the email address',
    description:
      'Emails a link to the new address. When the link is used, within 15 minutes, the account gets that address, and every link that was emailed to the previous address stops working. Needs a sign-in within the last 15 minutes (403 `recent_sign_in_required`).',
    caller: 'session',
    body: z.strictObject({ email: Email }),
    output: Ok,
  }),
  changePassword: route({
    method: 'PUT',
    path: 'account/password',
    summary: 'Change the password',
    description:
      'Needs `current_password` if the account has a password (403 `wrong_password`). A first password needs a sign-in within the last 15 minutes instead (403 `recent_sign_in_required`). Ends all other sessions and gives this one a new cookie.',
    caller: 'session',
    body: z.strictObject({ current_password: Password.optional(), new_password: Password }),
    output: Ok,
  }),
  listPasskeys: route({
    method: 'GET',
    path: 'account/passkeys',
    summary: 'List the passkeys',
    description: 'The passkeys of the account, newest first.',
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
    summary: 'Start adding a passkey',
    description:
      'Options for the browser, valid for 5 minutes and one attempt. Needs a sign-in within the last 15 minutes (403 `recent_sign_in_required`).',
    caller: 'session',
    body: z.strictObject({}),
    output: z.object({ options: PasskeyOptions }),
  }),
  addPasskey: route({
    method: 'POST',
    path: 'account/passkeys',
    summary: 'Add a passkey',
    description:
      'Takes the result of the browser for the options. 401 `passkey_refused` when it is not for this server, or too late.',
    caller: 'session',
    body: z.strictObject({ name: Name, passkey: PasskeyResponse }),
    output: z.object({ passkey: z.object({ id: idOutput('passkey'), name: z.string() }) }),
  }),
  removePasskey: route({
    method: 'DELETE',
    path: 'account/passkeys/{id}',
    summary: 'Remove a passkey',
    description: 'The passkey can no longer be used to sign in.',
    caller: 'session',
    params: z.object({ id: idInput('passkey') }),
    output: Ok,
  }),
  listSessions: route({
    method: 'GET',
    path: 'account/sessions',
    summary: 'List the sessions',
    description:
      'The active sessions of the account, the one used last first. `current` is the session of the request.',
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
    description: 'Ends the session at once, on every node.',
    caller: 'session',
    params: z.object({ id: idInput('session') }),
    output: Ok,
  }),
  endAllSessions: route({
    method: 'DELETE',
    path: 'account/sessions',
    summary: 'Sign out everywhere',
    description: 'Ends every session of the account, including this one.',
    caller: 'session',
    output: Ok,
  }),
} as const

export type SignInRoutes = typeof signInRoutes
type Parsed<F> = F extends z.ZodType ? z.output<F> : unknown
/** The routes that this kind of caller may call. */
export type SignInRoutesOf<Caller> = {
  [Name in keyof SignInRoutes as SignInRoutes[Name]['caller'] extends Caller ? Name : never]: SignInRoutes[Name]
}
export type SignInInput<R> = R extends SignInRoute<infer _C, infer P, infer B> ? Parsed<P> & Parsed<B> : never
export type SignInOutput<R> = R extends { readonly output: infer O extends z.ZodType } ? z.input<O> : never
