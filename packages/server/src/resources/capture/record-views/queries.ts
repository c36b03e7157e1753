import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string; readonly webhookId: string }

export type RecordViewRow = {
  readonly id: string
  readonly webhook_id: string
  readonly name: string
  readonly columns: { key: string; label: string }[]
  readonly sort_key: string | null
  readonly sort_dir: 'asc' | 'desc'
  readonly is_default: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`id, webhook_id, name, columns, sort_key, sort_dir, is_default, created_at, updated_at`

export function listRecordViews(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly RecordViewRow[]> {
  return db.many<RecordViewRow>(sql`
    select ${columns}
      from record_views
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export function findRecordView(db: Db, at: At & { id: string }): Promise<RecordViewRow | undefined> {
  return db.maybe<RecordViewRow>(sql`
    select ${columns}
      from record_views
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
       and id = ${at.id}
  `)
}

/** The endpoint that a view belongs to, and its name. */
export function findOwner(
  db: Db,
  at: Omit<At, 'webhookId'> & { id: string },
): Promise<Pick<RecordViewRow, 'webhook_id' | 'name'> | undefined> {
  return db.maybe<Pick<RecordViewRow, 'webhook_id' | 'name'>>(sql`
    select webhook_id, name
      from record_views
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

type Written = Omit<RecordViewRow, 'webhook_id' | 'created_at' | 'updated_at'>

/** Inserts a view; undefined when the name is taken. */
export function insertRecordView(db: Db, row: At & Written & { now: Date }): Promise<RecordViewRow | undefined> {
  return db.maybe<RecordViewRow>(sql`
    insert into record_views (workspace_id, project_id, id, webhook_id, name, columns, sort_key, sort_dir, is_default,
                              created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.webhookId}, ${row.name}, ${JSON.stringify(row.columns)},
            ${row.sort_key}, ${row.sort_dir}, ${row.is_default}, ${row.now}, ${row.now})
    on conflict (workspace_id, webhook_id, name) do nothing
    returning ${columns}
  `)
}

/** Updates a view; undefined when the name is taken. The webhook is locked, so no other request can take the name. */
export function updateRecordView(db: Db, row: At & Written & { now: Date }): Promise<RecordViewRow | undefined> {
  return db.maybe<RecordViewRow>(sql`
    update record_views
       set name = ${row.name},
           columns = ${JSON.stringify(row.columns)},
           sort_key = ${row.sort_key},
           sort_dir = ${row.sort_dir},
           is_default = ${row.is_default},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and webhook_id = ${row.webhookId}
       and id = ${row.id}
       and not exists (
             select 1
               from record_views other
              where other.workspace_id = ${row.workspaceId}
                and other.webhook_id = ${row.webhookId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
    returning ${columns}
  `)
}

/** Removes the current default before another one is set. */
export function clearDefault(db: Db, at: At & { now: Date }): Promise<number> {
  return db.run(sql`
    update record_views
       set is_default = false,
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
       and is_default
  `)
}

export function deleteRecordView(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from record_views
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
       and id = ${at.id}
  `)
}
