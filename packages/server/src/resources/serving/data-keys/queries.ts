import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type DataKeyRow = {
  readonly id: string
  readonly name: string
  readonly shown_prefix: string
  readonly datasets: readonly string[] | null
  readonly requests_per_10_seconds: number
  readonly ip_allowlist: readonly string[]
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
  readonly created_by: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`
  id, name, shown_prefix, datasets, requests_per_10_seconds, ip_allowlist, expires_at, last_used_at, created_by, created_at, updated_at
`

export function listDataKeys(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly DataKeyRow[]> {
  return db.many<DataKeyRow>(sql`
    select ${columns}
      from data_keys
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export async function countDataKeys(db: Db, at: At): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from data_keys
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return count
}

/** `lock` locks the row against other changes until the transaction ends. */
export function findDataKey(db: Db, at: At & { id: string; lock?: boolean }): Promise<DataKeyRow | undefined> {
  return db.maybe<DataKeyRow>(sql`
    select ${columns}
      from data_keys
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

type Settings = Pick<DataKeyRow, 'name' | 'datasets' | 'requests_per_10_seconds' | 'ip_allowlist' | 'expires_at'>

export function insertDataKey(
  db: Db,
  row: At & Settings & Pick<DataKeyRow, 'id' | 'shown_prefix' | 'created_by'> & { now: Date },
): Promise<DataKeyRow> {
  return db.one<DataKeyRow>(sql`
    insert into data_keys (workspace_id, project_id, ${columns})
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.shown_prefix}, ${row.datasets}, ${row.requests_per_10_seconds},
            ${row.ip_allowlist}, ${row.expires_at}, null, ${row.created_by}, ${row.now}, ${row.now})
    returning ${columns}
  `)
}

/** Replaces the settings that are given; undefined members stay as they are. */
export function updateDataKey(
  db: Db,
  at: At & { id: string; now: Date; given: { readonly [Name in keyof Settings]?: Settings[Name] | undefined } },
): Promise<DataKeyRow | undefined> {
  const { given } = at
  return db.maybe<DataKeyRow>(sql`
    update data_keys
       set name = coalesce(${given.name ?? null}, name),
           requests_per_10_seconds = coalesce(${given.requests_per_10_seconds ?? null}, requests_per_10_seconds),
           ip_allowlist = coalesce(${given.ip_allowlist ?? null}::text[], ip_allowlist),
           ${given.datasets === undefined ? sql`` : sql`datasets = ${given.datasets}::text[],`}
           ${given.expires_at === undefined ? sql`` : sql`expires_at = ${given.expires_at}::timestamptz,`}
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
    returning ${columns}
  `)
}

export function deleteDataKey(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from data_keys
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** Stores the use if the last stored use was at `since` or before. */
export function touchDataKey(db: Db, at: At & { id: string; now: Date; since: Date }): Promise<number> {
  return db.run(sql`
    update data_keys
       set last_used_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and (last_used_at is null or last_used_at <= ${at.since})
  `)
}
