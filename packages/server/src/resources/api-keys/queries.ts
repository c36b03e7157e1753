import { sql, type Db } from '../../platform/db.ts'

export type ApiKeyRow = {
  readonly id: string
  readonly role: 'viewer' | 'developer' | 'admin'
  readonly project_id: string | null
  readonly created_by: string
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

export async function insertApiKey(
  db: Db,
  row: {
    workspaceId: string
    id: string
    name: string
    shownPrefix: string
    role: ApiKeyRow['role']
    projectId: string | null
    createdBy: string
    expiresAt: Date | null
    now: Date
  },
): Promise<void> {
  await db.run(sql`
    insert into api_keys (workspace_id, id, name, shown_prefix, role, project_id, created_by, created_at, expires_at)
    values (${row.workspaceId}, ${row.id}, ${row.name}, ${row.shownPrefix}, ${row.role}, ${row.projectId}, ${row.createdBy},
            ${row.now}, ${row.expiresAt})
  `)
}

export function findApiKey(db: Db, at: { workspaceId: string; id: string }): Promise<ApiKeyRow | undefined> {
  return db.maybe<ApiKeyRow>(sql`
    select id, role, project_id, created_by, expires_at, revoked_at
      from api_keys
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
  `)
}

/** Writes at most once a minute (contract part 8). */
export function touchApiKey(db: Db, at: { workspaceId: string; id: string; now: Date }): Promise<number> {
  return db.run(sql`
    update api_keys
       set last_used_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and (last_used_at is null or last_used_at < ${new Date(at.now.getTime() - 60_000)})
  `)
}
