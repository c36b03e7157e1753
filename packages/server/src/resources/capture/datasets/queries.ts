import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type DatasetRow = {
  readonly id: string
  readonly name: string
  readonly description: string | null
  /** null: as long as the plan allows. */
  readonly retention_days: number | null
  readonly created_at: Date
  /** The newest record; null: there is none. */
  readonly last_record_at: Date | null
}

export async function listDatasetNames(db: Db, at: At): Promise<readonly string[]> {
  const rows = await db.many<{ name: string }>(sql`
    select name
      from datasets
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return rows.map((row) => row.name)
}

const LIMIT_LOCK = 4_680_042

/**
 * Locks the creation of datasets in these projects until the transaction ends, so that the number of datasets is exact.
 * It locks in one order. It is a separate statement, so a later statement sees the changes of the previous lock owner.
 */
export async function lockDatasets(db: Db, projectIds: readonly string[]): Promise<void> {
  await db.run(sql`
    select pg_advisory_xact_lock(hashtextextended(id, ${LIMIT_LOCK}))
      from (select id from unnest(${projectIds}::text[]) as id order by id) project
  `)
}

/** The datasets of projects in any workspaces. */
export function listDatasetsOf(
  db: Db,
  projects: readonly At[],
): Promise<readonly { readonly project_id: string; readonly name: string }[]> {
  return db.many<{ project_id: string; name: string }>(sql`
    select d.project_id, d.name
      from unnest(${projects.map((at) => at.workspaceId)}::uuid[], ${projects.map((at) => at.projectId)}::uuid[]) as p (workspace_id, project_id)
      join datasets d
        on d.workspace_id = p.workspace_id
       and d.project_id = p.project_id
  `)
}

const columns: Sql = sql`
  d.id, d.name, d.description, d.retention_days, d.created_at,
  (select r.received_at
     from records r
    where r.workspace_id = d.workspace_id
      and r.project_id = d.project_id
      and r.dataset = d.name
    order by r.id desc
    limit 1) as last_record_at
`

export function listDatasets(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly DatasetRow[]> {
  return db.many<DatasetRow>(sql`
    select ${columns}
      from datasets d
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and (${at.before}::uuid is null or d.id < ${at.before})
     order by d.id desc
     limit ${at.limit}
  `)
}

export function findDataset(db: Db, at: At & { id: string }): Promise<DatasetRow | undefined> {
  return db.maybe<DatasetRow>(sql`
    select ${columns}
      from datasets d
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and d.id = ${at.id}
  `)
}

export function findDatasetNamed(
  db: Db,
  at: At & { name: string },
): Promise<Pick<DatasetRow, 'id' | 'name'> | undefined> {
  return db.maybe<Pick<DatasetRow, 'id' | 'name'>>(sql`
    select d.id, d.name
      from datasets d
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and d.name = ${at.name}
  `)
}

/** Inserts a dataset; 0 when the name is taken. */
export function insertDataset(
  db: Db,
  row: At & { id: string; name: string; description: string | null; retention_days: number | null; now: Date },
): Promise<number> {
  return db.run(sql`
    insert into datasets (workspace_id, project_id, id, name, description, retention_days, created_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.description}, ${row.retention_days}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
  `)
}

/** Replaces the members that are given; undefined ones stay as they are. Returns how many datasets. */
export function updateDataset(
  db: Db,
  at: At & { id: string; description: string | null | undefined; retention_days: number | null | undefined },
): Promise<number> {
  return db.run(sql`
    update datasets
       set ${at.description === undefined ? sql`` : sql`description = ${at.description},`}
           ${at.retention_days === undefined ? sql`` : sql`retention_days = ${at.retention_days}::int,`}
           name = name
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** Deletes a dataset, and persists that its records with an id below `before` must be erased. Returns its name. */
export async function deleteDataset(
  db: Db,
  at: At & { id: string; before: string; now: Date },
): Promise<string | undefined> {
  const row = await db.maybe<{ name: string }>(sql`
    with gone as (
           delete from datasets
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              and id = ${at.id}
           returning name
         )
    insert into deleted_datasets (workspace_id, project_id, id, name, before, deleted_at)
    select ${at.workspaceId}::uuid, ${at.projectId}::uuid, ${at.id}::uuid, name, ${at.before}::uuid, ${at.now}::timestamptz
      from gone
    returning name
  `)
  return row?.name
}
