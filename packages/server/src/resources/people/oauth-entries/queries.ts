import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type OauthEntryRow = {
  readonly content: string
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly consumed_at: Date | null
}

type Named = { readonly kind: string; readonly hash: Uint8Array }

const columns: Sql = sql`content, created_at, expires_at, consumed_at`

/** Stores an entry, or the new content of one. Its time of creation stays. */
export async function upsertEntry(
  db: Db,
  row: Named & {
    content: string
    grantId: string | null
    userCodeHash: Uint8Array | null
    now: Date
    expiresAt: Date | null
  },
): Promise<void> {
  await db.run(sql`
    insert into oauth_entries (kind, hash, content, grant_id, user_code_hash, created_at, expires_at)
    values (${row.kind}, ${row.hash}, ${row.content}, ${row.grantId}, ${row.userCodeHash}, ${row.now}, ${row.expiresAt})
    on conflict (kind, hash) do update
       set content = excluded.content,
           grant_id = excluded.grant_id,
           expires_at = excluded.expires_at
  `)
}

export function findEntry(db: Db, at: Named): Promise<OauthEntryRow | undefined> {
  return db.maybe<OauthEntryRow>(sql`
    select ${columns}
      from oauth_entries
     where kind = ${at.kind}
       and hash = ${at.hash}
  `)
}

/** The entry with this user code, locked until the transaction ends. */
export function lockByUserCode(
  db: Db,
  userCodeHash: Uint8Array,
): Promise<(OauthEntryRow & { readonly hash: Uint8Array }) | undefined> {
  return db.maybe<OauthEntryRow & { readonly hash: Uint8Array }>(sql`
    select hash, ${columns}
      from oauth_entries
     where user_code_hash = ${userCodeHash}
       for update
  `)
}

export async function setContent(db: Db, at: Named & { content: string; grantId: string | null }): Promise<void> {
  await db.run(sql`
    update oauth_entries
       set content = ${at.content},
           grant_id = ${at.grantId}
     where kind = ${at.kind}
       and hash = ${at.hash}
  `)
}

/** Uses an entry that works once. Of two concurrent calls, one gets 1. */
export function consumeEntry(db: Db, at: Named & { now: Date }): Promise<number> {
  return db.run(sql`
    update oauth_entries
       set consumed_at = ${at.now}
     where kind = ${at.kind}
       and hash = ${at.hash}
       and consumed_at is null
  `)
}

export async function deleteEntry(db: Db, at: Named): Promise<void> {
  await db.run(sql`
    delete from oauth_entries
     where kind = ${at.kind}
       and hash = ${at.hash}
  `)
}

/** Deletes the codes and tokens of a grant: of one kind, or of every kind. */
export async function deleteEntriesOf(db: Db, at: { grantId: string; kind: string | null }): Promise<void> {
  await db.run(sql`
    delete from oauth_entries
     where grant_id = ${at.grantId}
       and (${at.kind}::text is null or kind = ${at.kind})
  `)
}

export function deleteExpiredEntries(db: Db, at: { before: Date; limit: number }): Promise<number> {
  return db.run(sql`
    delete from oauth_entries
     where (kind, hash) in (select kind, hash
                              from oauth_entries
                             where expires_at < ${at.before}
                             limit ${at.limit})
  `)
}

/** Deletes clients that registered themselves and that no person has connected. The hash is that of the client id. */
export function deleteUnusedClients(db: Db, at: { before: Date; limit: number }): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- a client belongs to no workspace
  return db.run(sql`
    delete from oauth_entries
     where (kind, hash) in (select e.kind, e.hash
                              from oauth_entries e
                             where e.kind = 'Client'
                               and e.created_at < ${at.before}
                               and not exists (select from connected_agents a
                                                where sha256(convert_to(a.client_id, 'UTF8')) = e.hash)
                             limit ${at.limit})
  `)
}
