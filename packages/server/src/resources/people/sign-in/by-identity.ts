import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse, Refusal } from '../../../domain/refusal.ts'
import type { Oidc, OidcBegun, OidcPerson } from '../../../platform/oidc.ts'
import type { AuditEntry } from '../../workspace/audit/index.ts'
import { findIdentity, insertIdentity } from '../identities/index.ts'
import { findUserByEmail } from '../users/index.ts'
import { accountOfProven, mayBegin } from './invited.ts'
import { atTheDoor, throttleNetwork, welcome, type Visit } from './visit.ts'

/** Where to send the browser, and what must be known when it comes back. */
export async function beginIdentity(visit: Visit, redirectUri: string): Promise<{ url: string; begun: OidcBegun }> {
  await throttleNetwork(visit)
  const oidc = configured(visit)
  return asProvider(visit, () => oidc.begin(redirectUri))
}

/** `returned`: our redirect URI with what the provider has added. Gives the secret of the new session. */
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
 * An account is known by (issuer, subject). One that is new here belongs to who has the same address, provided that both
 * sides have it proven: the provider calls it verified, and ours are always proven. An invited one becomes an account.
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

/** Whatever a provider does wrong is one answer to the person; the operator finds the cause in the log. */
async function asProvider<T>(visit: Visit, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    visit.log.warn('identity_provider.failed', { request_id: visit.requestId, why: whyFailed(cause) })
    throw new Refusal('identity_provider_error', { cause })
  }
}

/** Names and codes only: what the provider has sent may hold tokens. */
function whyFailed(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown'
  const code = 'code' in cause ? String(cause.code) : ''
  const told = 'error' in cause ? String(cause.error) : ''
  const below = cause.cause instanceof Error ? cause.cause.message : ''
  return [cause.name, code, told, cause.message, below]
    .filter((part) => part !== '')
    .join(': ')
    .slice(0, 300)
}
