import { sql, type Db } from '../../platform/db.ts'

type Whose = { readonly workspaceId: string; readonly userId: string }

export async function insertSignInLink(db: Db, row: Whose & { hash: Uint8Array; expiresAt: Date }): Promise<void> {
  await db.run(sql`
    insert into sign_in_links (hash, workspace_id, user_id, expires_at)
    values (${row.hash}, ${row.workspaceId}, ${row.userId}, ${row.expiresAt})
  `)
}

/** Uses a link up; undefined when it is unknown, used or over. */
export function useSignInLink(
  db: Db,
  at: { hash: Uint8Array; now: Date },
): Promise<{ workspace_id: string; user_id: string } | undefined> {
  return db.maybe<{ workspace_id: string; user_id: string }>(sql`
    update sign_in_links
       set used_at = ${at.now}
     where hash = ${at.hash}
       and used_at is null
       and expires_at > ${at.now}
    returning workspace_id, user_id
  `)
}

export async function insertSession(db: Db, row: Whose & { hash: Uint8Array; now: Date; expiresAt: Date }): Promise<void> {
  await db.run(sql`
    insert into sessions (hash, workspace_id, user_id, created_at, expires_at)
    values (${row.hash}, ${row.workspaceId}, ${row.userId}, ${row.now}, ${row.expiresAt})
  `)
}

export function findSession(
  db: Db,
  at: { hash: Uint8Array; now: Date },
): Promise<{ workspace_id: string; user_id: string } | undefined> {
  return db.maybe<{ workspace_id: string; user_id: string }>(sql`
    select workspace_id, user_id
      from sessions
     where hash = ${at.hash}
       and revoked_at is null
       and expires_at > ${at.now}
  `)
}

export async function revokeSession(db: Db, at: { hash: Uint8Array; now: Date }): Promise<void> {
  await db.run(sql`
    update sessions
       set revoked_at = ${at.now}
     where hash = ${at.hash}
       and revoked_at is null
  `)
}
