import { encodeId, LIMITS } from '@postroad/contract'
import { asPerson } from '../../as-person.ts'
import type { Ctx, Deps } from '../../context.ts'
import type { Actor } from '../../domain/actor.ts'
import { refuse } from '../../domain/refusal.ts'
import { hashCredential } from '../../platform/cipher.ts'
import { auditOwn, findMember } from '../users/index.ts'
import { findHome, findSession, insertSession, listSessions, revokeAll, revokeByHash, revokeOne, setSecret, setSeen, setWorkspace, type SessionRow, type SignInMethod } from './queries.ts'

const SECRET_CHARS = 43
const USER_AGENT_CHARS_MAX = 300

type Opening = {
  readonly userId: string
  readonly method: SignInMethod
  readonly userAgent: string | undefined
  /** Where to begin; else the workspace that the person was in last. */
  readonly workspaceId?: string | null
  /** The secret that the browser had before: its session ends, so that no session outlives a sign-in. */
  readonly replaces: string | undefined
}

/** Signs a person in: a new session with a new secret, which only its cookie holds. */
export async function openSession(tx: Ctx, of: Opening): Promise<string> {
  const now = new Date(tx.clock.now())
  if (of.replaces !== undefined) await revokeByHash(tx.db, { hash: hashCredential(of.replaces), now })
  const workspaceId = of.workspaceId ?? (await findHome(tx.db, of.userId))?.workspace_id ?? null
  const [id, secret] = [tx.uuid(), tx.randomText(SECRET_CHARS)]
  await insertSession(tx.db, {
    id,
    hash: hashCredential(secret),
    userId: of.userId,
    workspaceId,
    method: of.method,
    ip: tx.ip ?? null,
    userAgent: of.userAgent?.slice(0, USER_AGENT_CHARS_MAX) ?? null,
    now,
    expiresAt: new Date(now.getTime() + LIMITS.sessionMs),
  })
  const person = { ...asPerson(tx, { ...tx, userId: of.userId, sessionId: id, workspaceId }), db: tx.db }
  await auditOwn(person, { action: 'sign_in', target: encodeId('user', of.userId), details: { method: of.method } })
  return secret
}

/** The live session of a secret. Writes that it was used at most once a minute. */
export async function findOwnSession(deps: Deps, secret: string): Promise<SessionRow> {
  const now = deps.clock.now()
  const session = await findSession(deps.database, { hash: hashCredential(secret), ...liveAt(now) })
  if (session === undefined) throw refuse('unauthorized', 'This session is over. Sign in again.')
  if (session.last_seen_at.getTime() <= now - LIMITS.sessionSeenEveryMs) await setSeen(deps.database, { id: session.id, now: new Date(now) })
  return session
}

/**
 * The person behind a session, with the role held at this moment. Who was removed from a workspace goes on in another; who is
 * in none is refused, or is nobody much in `withoutWorkspace`.
 */
export async function identifySession(deps: Deps, { secret, withoutWorkspace }: { secret: string; withoutWorkspace: string | undefined }): Promise<{ actor: Actor & { kind: 'person' }; workspaceId: string }> {
  const session = await findOwnSession(deps, secret)
  const { id, user_id: userId } = session
  const member = session.workspace_id === null ? undefined : await findMember(deps.database, { workspaceId: session.workspace_id, userId })
  if (member !== undefined && session.workspace_id !== null) return { workspaceId: session.workspace_id, actor: { kind: 'person', userId, role: member.role, sessionId: id } }
  const home = await findHome(deps.database, userId)
  const role = home === undefined ? undefined : (await findMember(deps.database, { workspaceId: home.workspace_id, userId }))?.role
  if (home === undefined || role === undefined) {
    if (withoutWorkspace === undefined) throw refuse('no_workspace')
    return { workspaceId: withoutWorkspace, actor: { kind: 'person', userId, role: 'viewer', sessionId: id } }
  }
  await setWorkspace(deps.database, { id, workspaceId: home.workspace_id })
  return { workspaceId: home.workspace_id, actor: { kind: 'person', userId, role, sessionId: id } }
}

/** Where a session works from the commit on. The caller has seen that the person is in that workspace. */
export function moveSession(tx: Ctx, of: { id: string; workspaceId: string }): Promise<void> {
  return setWorkspace(tx.db, of)
}

/** Signs out: the secret opens nothing from the commit on. Without a live session it does nothing. */
export async function endSession(tx: Ctx, secret: string): Promise<void> {
  const ended = await revokeByHash(tx.db, { hash: hashCredential(secret), now: new Date(tx.clock.now()) })
  if (ended === undefined) return
  const person = { ...asPerson(tx, { ...tx, userId: ended.user_id, sessionId: ended.id, workspaceId: ended.workspace_id }), db: tx.db }
  await auditOwn(person, { action: 'sign_out', target: encodeId('user', ended.user_id) })
}

export function listOwnSessions(deps: Deps, userId: string): Promise<readonly SessionRow[]> {
  return listSessions(deps.database, { userId, ...liveAt(deps.clock.now()) })
}

/** Ends one session of a person; one that is somebody else's answers like one that is not there. */
export async function endOwnSession(tx: Ctx, of: { id: string; userId: string }): Promise<void> {
  if ((await revokeOne(tx.db, { ...of, now: new Date(tx.clock.now()) })) === 0) throw refuse('not_found')
  await auditOwn(tx, { action: 'end_session', target: encodeId('session', of.id) })
}

/** Ends the sessions of a person, all but `keep`; gives how many. */
export function endSessionsOf(tx: Ctx, of: { userId: string; keep: string | null }): Promise<number> {
  return revokeAll(tx.db, { ...of, now: new Date(tx.clock.now()) })
}

/** Gives a session a new secret, after which a cookie that was copied before is of no use. */
export async function renewSession(tx: Ctx, id: string): Promise<string> {
  const secret = tx.randomText(SECRET_CHARS)
  await setSecret(tx.db, { id, hash: hashCredential(secret) })
  return secret
}

function liveAt(now: number): { now: Date; idleSince: Date } {
  return { now: new Date(now), idleSince: new Date(now - LIMITS.sessionIdleMs) }
}
