import { LIMITS, SECRET_PREFIXES } from '@postroad/contract'
import type { Ctx, Deps } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { findCredential } from '../../capture/credentials/index.ts'
import { touchToken } from '../portal-tokens/index.ts'
import { findAccess, type AccessRow } from './queries.ts'

/** A customer who visits their portal. */
export type Guest = AccessRow & { readonly workspaceId: string; readonly projectId: string }

type TokenOf = Pick<Guest, 'workspaceId' | 'projectId'> & { readonly tokenId: string }

/** The content of a sealed cookie: the token that opened the session, and the epoch of the portal at that time. */
export type SessionOf = TokenOf & { readonly epoch: number }

/** The customer behind an `hpt_` token. */
export async function identifyToken(deps: Deps, text: string): Promise<Guest> {
  if (!text.startsWith(SECRET_PREFIXES.portalToken)) throw refuse('portal_token_required')
  const credential = await findCredential(deps.database, hashCredential(text))
  if (credential?.kind !== 'portal_token' || credential.project_id === null) throw refuse('portal_token_required')
  const { workspace_id: workspaceId, project_id: projectId, subject_id: tokenId } = credential
  return guestOf(deps, { workspaceId, projectId, tokenId })
}

/** The customer of a session. Revoking its token has ended it, and so has turning the portal off, even if it is on again. */
export async function identifySession(deps: Deps, { epoch, ...of }: SessionOf): Promise<Guest> {
  const guest = await guestOf(deps, of)
  if (guest.session_epoch !== epoch) throw refuse('portal_token_required')
  return guest
}

async function guestOf(deps: Deps, { tokenId, ...at }: TokenOf): Promise<Guest> {
  const access = await findAccess(deps.database.forWorkspace(at.workspaceId), { ...at, tokenId })
  if (access === undefined) throw refuse('portal_token_required')
  if (access.expires_at.getTime() <= deps.clock.now()) throw refuse('portal_token_expired')
  if (!access.enabled) throw refuse('portal_disabled')
  return { ...access, ...at }
}

/** Stores the time of use, at most once a minute. */
export async function noteTokenUse(deps: Deps, guest: Guest): Promise<void> {
  const now = deps.clock.now()
  const since = now - LIMITS.apiKeyUsePersistMs
  if (guest.last_used_at !== null && guest.last_used_at.getTime() > since) return
  const { workspaceId, projectId, token_id: id } = guest
  await touchToken(deps.database.forWorkspace(workspaceId), {
    workspaceId,
    projectId,
    id,
    now: new Date(now),
    since: new Date(since),
  })
}

/** The context of the verbs of a portal: the customer acts, and checks of URLs follow the rules for customers. */
export type PortalCtx = Ctx & {
  readonly guest: Guest
  /** The end of the session, or of the token that was sent. */
  readonly accessEndsAt: Date
}

type Asked = Pick<PortalCtx, 'guest' | 'accessEndsAt' | 'requestId' | 'ip'>

export function portalContext(deps: Deps, asked: Asked): PortalCtx {
  const { workspaceId, projectId, customer } = asked.guest
  const database = deps.database.forWorkspace(workspaceId)
  return {
    ...deps,
    ...asked,
    database,
    db: database,
    actor: { kind: 'customer', customerId: customer, role: 'viewer' },
    workspaceId,
    projectId,
    validateUrl: deps.validateCustomerUrl,
    // No name resolves to an address to which a customer may send plain http.
    validatePlainHttp: (url) =>
      Promise.resolve(URL.parse(url)?.protocol === 'https:' ? undefined : 'The URL must be https.'),
  }
}
