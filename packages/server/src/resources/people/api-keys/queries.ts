import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type ApiKeyRow = {
  readonly id: string
  readonly name: string
  readonly shown_prefix: string
  readonly role: 'viewer' | 'developer' | 'admin'
  readonly project_id: string | null
  readonly ip_allowlist: readonly string[]
  readonly created_by: string
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly last_used_at: Date | null
}

/** The creator of a key: `bootstrap`, the command line on the machine of the server, or null for a person in the console. */
export type KeyOrigin = 'bootstrap' | 'command_line' | null

/** A key with its creator. `is_member`: the creator is still in the workspace. */
export type ListedApiKeyRow = ApiKeyRow & { readonly creator_name: string; readonly is_member: boolean }

const columns: Sql = sql`
  k.id, k.name, k.shown_prefix, k.role, k.project_id, k.ip_allowlist, k.created_by, k.created_at, k.expires_at, k.revoked_at, k.last_used_at
`
const listedColumns: Sql = sql`
  ${columns}, u.name as creator_name,
  exists (select from members m where m.workspace_id = k.workspace_id and m.user_id = k.created_by) as is_member
`

type Written = Pick<
  ApiKeyRow,
  'id' | 'name' | 'shown_prefix' | 'role' | 'project_id' | 'ip_allowlist' | 'created_by' | 'expires_at'
>

export async function insertApiKey(
  db: Db,
  row: Written & { workspaceId: string; now: Date; origin?: KeyOrigin },
): Promise<void> {
  await db.run(sql`
    insert into api_keys (workspace_id, id, name, shown_prefix, role, project_id, ip_allowlist, created_by, created_at, expires_at, origin)
    values (${row.workspaceId}, ${row.id}, ${row.name}, ${row.shown_prefix}, ${row.role}, ${row.project_id}, ${row.ip_allowlist},
            ${row.created_by}, ${row.now}, ${row.expires_at}, ${row.origin ?? null})
  `)
}

type At = { readonly workspaceId: string; readonly id: string }

export function findApiKey(db: Db, at: At): Promise<ApiKeyRow | undefined> {
  return db.maybe<ApiKeyRow>(sql`
    select ${columns}
      from api_keys k
     where k.workspace_id = ${at.workspaceId}
       and k.id = ${at.id}
  `)
}

export function findListedApiKey(db: Db, at: At): Promise<ListedApiKeyRow | undefined> {
  return db.maybe<ListedApiKeyRow>(sql`
    select ${listedColumns}
      from api_keys k
      join users u on u.id = k.created_by
     where k.workspace_id = ${at.workspaceId}
       and k.id = ${at.id}
  `)
}

export function listApiKeys(
  db: Db,
  at: { workspaceId: string; before: string | null; limit: number },
): Promise<readonly ListedApiKeyRow[]> {
  return db.many<ListedApiKeyRow>(sql`
    select ${listedColumns}
      from api_keys k
      join users u on u.id = k.created_by
     where k.workspace_id = ${at.workspaceId}
       and (${at.before}::uuid is null or k.id < ${at.before})
     order by k.id desc
     limit ${at.limit}
  `)
}

/** Revokes a key; 0 when there is no such key, or it is already revoked. */
export function revokeApiKey(db: Db, at: At & { now: Date }): Promise<number> {
  return db.run(sql`
    update api_keys
       set revoked_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and revoked_at is null
  `)
}

/** Stores the use if the last stored use was at `since` or before. */
export function touchApiKey(db: Db, at: At & { now: Date; since: Date }): Promise<number> {
  return db.run(sql`
    update api_keys
       set last_used_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and (last_used_at is null or last_used_at <= ${at.since})
  `)
}

/** Revokes the keys of an origin. Returns those that were not revoked yet, oldest first. */
export async function revokeKeysFrom(
  db: Db,
  at: { workspaceId: string; origin: KeyOrigin; now: Date },
): Promise<readonly string[]> {
  const rows = await db.many<{ id: string }>(sql`
    update api_keys
       set revoked_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and origin = ${at.origin}
       and revoked_at is null
    returning id
  `)
  return rows.map(({ id }) => id).toSorted()
}

/** Removes the expired keys of an origin. Returns their ids. */
export async function deleteExpiredKeys(
  db: Db,
  at: { workspaceId: string; origin: KeyOrigin; now: Date },
): Promise<readonly string[]> {
  const rows = await db.many<{ id: string }>(sql`
    delete from api_keys
     where workspace_id = ${at.workspaceId}
       and origin = ${at.origin}
       and expires_at <= ${at.now}
    returning id
  `)
  return rows.map(({ id }) => id)
}

/** Revokes all keys that a person created. Returns those that were not revoked yet, oldest first. */
export async function revokeKeysOf(
  db: Db,
  at: { workspaceId: string; createdBy: string; now: Date },
): Promise<readonly string[]> {
  const rows = await db.many<{ id: string }>(sql`
    update api_keys
       set revoked_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and created_by = ${at.createdBy}
       and revoked_at is null
    returning id
  `)
  return rows.map(({ id }) => id).toSorted()
}
