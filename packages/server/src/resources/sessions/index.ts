import type { Ctx, Deps } from '../../context.ts'
import type { Actor } from '../../domain/actor.ts'
import { refuse } from '../../domain/refusal.ts'
import { hashCredential } from '../../platform/cipher.ts'
import { findMember, findOwner } from '../workspaces/index.ts'
import { findSession, insertSession, insertSignInLink, revokeSession, useSignInLink } from './queries.ts'

const LINK_MS = 3_600_000
export const SESSION_MS = 12 * 3_600_000
const SECRET_CHARS = 43

/** A link that signs the owner in once, within an hour. The token stands in the fragment, which no server or log ever sees. */
export async function mintSignInLink(tx: Ctx): Promise<string> {
  const owner = await findOwner(tx.db, tx.workspaceId)
  if (owner === undefined) throw new Error('The workspace has no owner to sign in.')
  const token = tx.randomText(SECRET_CHARS)
  const expiresAt = new Date(tx.clock.now() + LINK_MS)
  await insertSignInLink(tx.db, { hash: hashCredential(token), workspaceId: tx.workspaceId, userId: owner.id, expiresAt })
  return `${tx.baseUrl()}/#t=${token}`
}

/** Trades the token of a link for a session; gives the session's secret, which only its cookie holds. */
export async function redeemSignInLink(deps: Deps, token: string): Promise<string> {
  const now = new Date(deps.clock.now())
  const whose = await useSignInLink(deps.database, { hash: hashCredential(token), now })
  if (whose === undefined) throw refuse('unauthorized', 'This sign-in link was used already or is over. `postroad bootstrap` gives a new one.')
  const secret = deps.randomText(SECRET_CHARS)
  const expiresAt = new Date(now.getTime() + SESSION_MS)
  await insertSession(deps.database, { hash: hashCredential(secret), workspaceId: whose.workspace_id, userId: whose.user_id, now, expiresAt })
  return secret
}

/** The person behind a session, with the role held at this moment. */
export async function identifySession(deps: Deps, secret: string): Promise<{ actor: Actor & { kind: 'person' }; workspaceId: string }> {
  const session = await findSession(deps.database, { hash: hashCredential(secret), now: new Date(deps.clock.now()) })
  if (session === undefined) throw refuse('unauthorized', 'This session is over. Sign in again.')
  const { workspace_id: workspaceId, user_id: userId } = session
  const member = await findMember(deps.database, { workspaceId, userId })
  if (member === undefined) throw refuse('unauthorized')
  return { workspaceId, actor: { kind: 'person', userId, role: member.role } }
}

export function endSession(deps: Deps, secret: string): Promise<void> {
  return revokeSession(deps.database, { hash: hashCredential(secret), now: new Date(deps.clock.now()) })
}
