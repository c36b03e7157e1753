import { encodeId, LIMITS, type Role } from '@postroad/contract'
import { asPerson } from '../../../as-person.ts'
import type { Ctx, Deps } from '../../../context.ts'
import type { Db } from '../../../platform/db.ts'
import type { Actor } from '../../../domain/people/actor.ts'
import { refuse } from '../../../domain/refusal.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { mintSecret } from '../../mint.ts'
import type { AuditEntry } from '../../workspace/audit/index.ts'
import { auditOwn, findMember } from '../users/index.ts'
import {
  findHome,
  findSession,
  insertSession,
  listSessions,
  revokeAll,
  revokeByHash,
  revokeOne,
  setSecret,
  setSeen,
  setWorkspace,
  type SessionRow,
  type SignInMethod,
} from './queries.ts'

const USER_AGENT_CHARS_MAX = 300

type Opening = {
  readonly userId: string
  readonly method: SignInMethod
  readonly userAgent: string | undefined
  /** The workspace to start in, if the person is a member of it; otherwise the last one that they used. */
  readonly workspaceId?: string | null
  /** A change to the account that this sign-in made. */
  readonly did?: AuditEntry | undefined
  /** The previous secret of the browser. Its session ends, so that no session outlives a sign-in. */
  readonly replaces: string | undefined
}

/** Signs a person in: creates a session with a secret that only its cookie contains. */
export async function openSession(tx: Ctx, of: Opening): Promise<string> {
  const now = new Date(tx.clock.now())
  if (of.replaces !== undefined) await revokeByHash(tx.db, { hash: hashCredential(of.replaces), now })
  const workspaceId =
    (await findMembership(tx.db, { user_id: of.userId, workspace_id: of.workspaceId ?? null }))?.workspaceId ?? null
  const [id, secret] = [tx.uuid(), mintSecret(tx)]
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
  if (of.did !== undefined) await auditOwn(person, of.did)
  await auditOwn(person, { action: 'sign_in', target: encodeId('user', of.userId), details: { method: of.method } })
  return secret
}

/** The active session of a secret. It stores the use at most once a minute. */
export async function findOwnSession(deps: Deps, secret: string): Promise<SessionRow> {
  const now = deps.clock.now()
  const session = await findSession(deps.database, { hash: hashCredential(secret), ...liveAt(now) })
  if (session === undefined) throw refuse('unauthorized', 'This session has expired. Sign in again.')
  if (session.last_seen_at.getTime() <= now - LIMITS.sessionSeenEveryMs)
    await setSeen(deps.database, { id: session.id, now: new Date(now) })
  return session
}

/**
 * The person behind a session, with their current role. A person who was removed from a workspace continues in another one. A person
 * without a workspace is refused, or gets the lowest rights in `withoutWorkspace`.
 */
export async function identifySession(
  deps: Deps,
  { secret, withoutWorkspace }: { secret: string; withoutWorkspace: string | undefined },
): Promise<{ actor: Actor & { kind: 'person' }; workspaceId: string }> {
  const session = await findOwnSession(deps, secret)
  const { id, user_id: userId } = session
  const membership = await findMembership(deps.database, session)
  if (membership === undefined) {
    if (withoutWorkspace === undefined) throw refuse('no_workspace')
    return { workspaceId: withoutWorkspace, actor: { kind: 'person', userId, role: 'viewer', sessionId: id } }
  }
  const { workspaceId, role } = membership
  if (workspaceId !== session.workspace_id) await setWorkspace(deps.database, { id, workspaceId })
  return { workspaceId, actor: { kind: 'person', userId, role, sessionId: id } }
}

/**
 * The current membership of the person of a session: in its workspace, or, after a removal, in the last one that they used;
 * undefined if there is none. Changes to the account are audited there, and never in a workspace that they are not in.
 */
export async function findMembership(
  db: Db,
  { user_id: userId, workspace_id: workspaceId }: Pick<SessionRow, 'user_id' | 'workspace_id'>,
): Promise<{ readonly workspaceId: string; readonly role: Role } | undefined> {
  const member = workspaceId === null ? undefined : await findMember(db, { workspaceId, userId })
  if (workspaceId !== null && member !== undefined) return { workspaceId, role: member.role }
  const home = await findHome(db, userId)
  return home === undefined ? undefined : { workspaceId: home.workspace_id, role: home.role }
}

/** Moves a session to a workspace. The caller has checked that the person is a member of it. */
export function moveSession(tx: Ctx, of: { id: string; workspaceId: string }): Promise<void> {
  return setWorkspace(tx.db, of)
}

/** Signs out: the secret is invalid from the commit on. Without an active session it does nothing. */
export async function endSession(tx: Ctx, secret: string): Promise<void> {
  const ended = await revokeByHash(tx.db, { hash: hashCredential(secret), now: new Date(tx.clock.now()) })
  if (ended === undefined) return
  const membership = await findMembership(tx.db, ended)
  const person = {
    ...asPerson(tx, {
      ...tx,
      userId: ended.user_id,
      sessionId: ended.id,
      workspaceId: membership?.workspaceId ?? null,
    }),
    db: tx.db,
  }
  await auditOwn(person, { action: 'sign_out', target: encodeId('user', ended.user_id) })
}

export function listOwnSessions(deps: Deps, userId: string): Promise<readonly SessionRow[]> {
  return listSessions(deps.database, { userId, ...liveAt(deps.clock.now()) })
}

/** Ends one session of a person. Another person's session gives the same response as a missing one. */
export async function endOwnSession(tx: Ctx, of: { id: string; userId: string }): Promise<void> {
  if ((await revokeOne(tx.db, { ...of, now: new Date(tx.clock.now()) })) === 0) throw refuse('not_found')
  await auditOwn(tx, { action: 'end_session', target: encodeId('session', of.id) })
}

/** Ends the sessions of a person, except `keep`. Returns how many. */
export function endSessionsOf(tx: Ctx, of: { userId: string; keep: string | null }): Promise<number> {
  return revokeAll(tx.db, { ...of, now: new Date(tx.clock.now()) })
}

/** Gives a session a new secret, so that a copy of its previous cookie is useless. */
export async function renewSession(tx: Ctx, id: string): Promise<string> {
  const secret = mintSecret(tx)
  await setSecret(tx.db, { id, hash: hashCredential(secret) })
  return secret
}

function liveAt(now: number): { now: Date; idleSince: Date } {
  return { now: new Date(now), idleSince: new Date(now - LIMITS.sessionIdleMs) }
}
