import type { Role } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type SignInMethod = 'password' | 'link' | 'passkey' | 'oidc'

export type SessionRow = {
  readonly id: string
  readonly user_id: string
  readonly workspace_id: string | null
  readonly method: SignInMethod
  readonly ip: string | null
  readonly user_agent: string | null
  readonly created_at: Date
  readonly last_seen_at: Date
  readonly expires_at: Date
}

const columns: Sql = sql`id, user_id, workspace_id, method, ip, user_agent, created_at, last_seen_at, expires_at`

export async function insertSession(
  db: Db,
  row: {
    id: string
    hash: Uint8Array
    userId: string
    workspaceId: string | null
    method: SignInMethod
    ip: string | null
    userAgent: string | null
    now: Date
    expiresAt: Date
  },
): Promise<void> {
  await db.run(sql`
    insert into sessions (id, hash, user_id, workspace_id, method, ip, user_agent, created_at, last_seen_at, expires_at)
    values (${row.id}, ${row.hash}, ${row.userId}, ${row.workspaceId}, ${row.method}, ${row.ip}, ${row.userAgent}, ${row.now},
            ${row.now}, ${row.expiresAt})
  `)
}

/** Active: not ended, not expired, and used since `idleSince`. */
type LiveAt = { readonly now: Date; readonly idleSince: Date }

const live = ({ now, idleSince }: LiveAt): Sql =>
  sql`revoked_at is null and expires_at > ${now} and last_seen_at > ${idleSince}`

export function findSession(db: Db, at: LiveAt & { hash: Uint8Array }): Promise<SessionRow | undefined> {
  return db.maybe<SessionRow>(sql`
    select ${columns}
      from sessions
     where hash = ${at.hash}
       and ${live(at)}
  `)
}

export function listSessions(db: Db, at: LiveAt & { userId: string }): Promise<readonly SessionRow[]> {
  return db.many<SessionRow>(sql`
    select ${columns}
      from sessions
     where user_id = ${at.userId}
       and ${live(at)}
     order by last_seen_at desc, id desc
  `)
}

export async function setSeen(db: Db, at: { id: string; now: Date }): Promise<void> {
  await db.run(sql`
    update sessions
       set last_seen_at = ${at.now}
     where id = ${at.id}
       and last_seen_at < ${at.now}
  `)
}

export async function setWorkspace(db: Db, at: { id: string; workspaceId: string | null }): Promise<void> {
  await db.run(sql`
    update sessions
       set workspace_id = ${at.workspaceId}
     where id = ${at.id}
       and revoked_at is null
  `)
}

/** Gives the same session a new secret. The previous one is invalid. */
export async function setSecret(db: Db, at: { id: string; hash: Uint8Array }): Promise<void> {
  await db.run(sql`
    update sessions
       set hash = ${at.hash}
     where id = ${at.id}
       and revoked_at is null
  `)
}

export function revokeByHash(db: Db, at: { hash: Uint8Array; now: Date }): Promise<SessionRow | undefined> {
  return db.maybe<SessionRow>(sql`
    update sessions
       set revoked_at = ${at.now}
     where hash = ${at.hash}
       and revoked_at is null
    returning ${columns}
  `)
}

/** Ends one session of a person; 0 when it belongs to another person, or has ended. */
export function revokeOne(db: Db, at: { id: string; userId: string; now: Date }): Promise<number> {
  return db.run(sql`
    update sessions
       set revoked_at = ${at.now}
     where id = ${at.id}
       and user_id = ${at.userId}
       and revoked_at is null
  `)
}

/** Ends the sessions of a person, except `keep`. */
export function revokeAll(db: Db, at: { userId: string; keep: string | null; now: Date }): Promise<number> {
  return db.run(sql`
    update sessions
       set revoked_at = ${at.now}
     where user_id = ${at.userId}
       and revoked_at is null
       and id is distinct from ${at.keep}::uuid
  `)
}

/** The last used of a person's workspaces, with their role in it; if they used none, the one that they joined first. */
export function findHome(db: Db, userId: string): Promise<{ workspace_id: string; role: Role } | undefined> {
  return db.maybe<{ workspace_id: string; role: Role }>(sql`
    select m.workspace_id, m.role
      from members m
     where m.user_id = ${userId}
     order by (select max(s.last_seen_at)
                 from sessions s
                where s.user_id = m.user_id
                  and s.workspace_id = m.workspace_id) desc nulls last,
           m.created_at,
           m.workspace_id
     limit 1
  `)
}

export function deleteSessionsOver(db: Db, before: Date): Promise<number> {
  return db.run(sql`
    delete from sessions
     where expires_at < ${before}
  `)
}
