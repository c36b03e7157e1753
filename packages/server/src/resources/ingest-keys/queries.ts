import { sql, type Db } from '../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type IngestKeyRow = { readonly id: string; readonly name: string; readonly shown_prefix: string; readonly ip_allowlist: readonly string[]; readonly created_at: Date }

/** All of a project, for the road. */
export function listIngestKeyPlans(db: Db, at: At): Promise<readonly Pick<IngestKeyRow, 'id' | 'ip_allowlist'>[]> {
  return db.many(sql`
    select id, ip_allowlist
      from ingest_keys
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and revoked_at is null
  `)
}

export function listIngestKeys(db: Db, at: At & { before: string | null; limit: number }): Promise<readonly IngestKeyRow[]> {
  return db.many<IngestKeyRow>(sql`
    select id, name, shown_prefix, ip_allowlist, created_at
      from ingest_keys
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and revoked_at is null
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export function insertIngestKey(db: Db, row: At & { id: string; name: string; shownPrefix: string; ipAllowlist: readonly string[]; now: Date }): Promise<IngestKeyRow> {
  return db.one<IngestKeyRow>(sql`
    insert into ingest_keys (workspace_id, project_id, id, name, shown_prefix, ip_allowlist, created_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.shownPrefix}, ${row.ipAllowlist}, ${row.now})
    returning id, name, shown_prefix, ip_allowlist, created_at
  `)
}

export function revokeIngestKey(db: Db, at: At & { id: string; now: Date }): Promise<number> {
  return db.run(sql`
    update ingest_keys
       set revoked_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and revoked_at is null
  `)
}
