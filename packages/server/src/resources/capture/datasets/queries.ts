import { sql, type Db } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type DatasetRow = {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly created_at: Date
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
 * Locks the creation of datasets in these projects until the transaction ends, so that their number is exact. It locks in one order. It
 * is a separate statement, so a later statement sees the changes of the previous lock owner.
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

export function listDatasets(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly DatasetRow[]> {
  return db.many<DatasetRow>(sql`
    select id, name, description, created_at
      from datasets
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export function findDataset(db: Db, at: At & { id: string }): Promise<DatasetRow | undefined> {
  return db.maybe<DatasetRow>(sql`
    select id, name, description, created_at
      from datasets
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** Inserts a dataset; undefined when the name is taken. */
export function insertDataset(
  db: Db,
  row: At & { id: string; name: string; description: string | null; now: Date },
): Promise<DatasetRow | undefined> {
  return db.maybe<DatasetRow>(sql`
    insert into datasets (workspace_id, project_id, id, name, description, created_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.description}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
    returning id, name, description, created_at
  `)
}

export function describeDataset(
  db: Db,
  at: At & { id: string; description: string | null },
): Promise<DatasetRow | undefined> {
  return db.maybe<DatasetRow>(sql`
    update datasets
       set description = ${at.description}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
    returning id, name, description, created_at
  `)
}
