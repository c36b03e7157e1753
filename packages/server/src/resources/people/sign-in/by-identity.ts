import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse, Refusal } from '../../../domain/refusal.ts'
import type { Oidc, OidcBegun, OidcPerson } from '../../../platform/oidc.ts'
import type { AuditEntry } from '../../workspace/audit/index.ts'
import { findIdentity, insertIdentity } from '../identities/index.ts'
import { findUserByEmail } from '../users/index.ts'
import { accountOfProven, mayBegin } from './invited.ts'
import { atTheDoor, throttleNetwork, welcome, type Visit } from './visit.ts'

/** The URL for the browser, and the state that is needed when it returns. */
export async function beginIdentity(visit: Visit, redirectUri: string): Promise<{ url: string; begun: OidcBegun }> {
  await throttleNetwork(visit)
  const oidc = configured(visit)
  return asProvider(visit, () => oidc.begin(redirectUri))
}

/** `returned` is the redirect URI with the parameters of the provider. Returns the secret of the new session. */
export async function signInByIdentity(
  visit: Visit,
  { returned, begun }: { returned: URL; begun: OidcBegun },
): Promise<string> {
  await throttleNetwork(visit)
  const oidc = configured(visit)
  const person = await asProvider(visit, () => oidc.finish(returned, begun))
  checkDomain(visit, person)
  return atTheDoor(visit, async (tx) => welcome(visit, tx, { ...(await accountOf(tx, person)), method: 'oidc' }))
}

/**
 * An account is identified by (issuer, subject). A new identity belongs to the account with the same address, if both sides have proven
 * the address: the provider marks it as verified, and addresses here are always proven. An invited address gets an account.
 */
async function accountOf(tx: Ctx, person: OidcPerson): Promise<{ readonly userId: string; readonly did?: AuditEntry }> {
  const known = await findIdentity(tx.db, person)
  if (known !== undefined) return { userId: known.user_id }
  const { email, name } = person
  const user = email === undefined ? undefined : await findUserByEmail(tx.db, email)
  if (email === undefined || (user === undefined && !(await mayBegin(tx, email)))) throw refuse('no_account')
  const userId = await accountOfProven(tx, { email, name })
  const linked = await insertIdentity(tx.db, { ...person, userId, now: new Date(tx.clock.now()) })
  return linked === 0
    ? { userId }
    : { userId, did: { action: 'link_identity', target: encodeId('user', userId), details: { issuer: person.issuer } } }
}

function checkDomain({ config }: Visit, { email }: OidcPerson): void {
  const { OIDC_ALLOWED_DOMAINS: allowed } = config
  if (allowed.length === 0) return
  const domain = email?.toLowerCase().split('@').at(-1)
  if (domain === undefined || !allowed.includes(domain)) throw refuse('email_domain_not_allowed')
}

function configured(visit: Visit): Oidc {
  if (visit.oidc === undefined) throw refuse('oidc_not_configured')
  return visit.oidc
}

/** Every fault of the provider gives the person the same refusal. The operator finds the cause in the log. */
async function asProvider<T>(visit: Visit, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    visit.log.warn('identity_provider.failed', { request_id: visit.requestId, why: failureText(cause) })
    throw new Refusal('identity_provider_error', { cause })
  }
}

/** Names and codes only, because the data of the provider may contain tokens. */
function failureText(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown'
  const code = 'code' in cause ? String(cause.code) : ''
  const providerError = 'error' in cause ? String(cause.error) : ''
  const below = cause.cause instanceof Error ? cause.cause.message : ''
  return [cause.name, code, providerError, cause.message, below]
    .filter((part) => part !== '')
    .join(': ')
    .slice(0, 300)
}
