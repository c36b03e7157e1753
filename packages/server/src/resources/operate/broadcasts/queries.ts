import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type BroadcastRow = {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly severity: 'info' | 'warning' | 'critical'
  /** null: every workspace. */
  readonly workspace_ids: readonly string[] | null
  readonly created_by: string
  readonly created_at: Date
  readonly ends_at: Date | null
  readonly withdrawn_at: Date | null
}

type Page = { readonly before: string | null; readonly limit: number }

const columns: Sql = sql`id, title, text, severity, workspace_ids, created_by, created_at, ends_at, withdrawn_at`

export function listBroadcasts(db: Db, at: Page): Promise<readonly BroadcastRow[]> {
  return db.many<BroadcastRow>(sql`
    select ${columns}
      from broadcasts
     where (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

/** The announcements that members of a workspace read. */
export function listBroadcastsTo(db: Db, at: Page & { workspaceId: string }): Promise<readonly BroadcastRow[]> {
  return db.many<BroadcastRow>(sql`
    select ${columns}
      from broadcasts
     where withdrawn_at is null
       and (workspace_ids is null or ${at.workspaceId} = any (workspace_ids))
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export function insertBroadcast(db: Db, row: Omit<BroadcastRow, 'withdrawn_at'>): Promise<BroadcastRow> {
  return db.one<BroadcastRow>(sql`
    insert into broadcasts (id, title, text, severity, workspace_ids, created_by, created_at, ends_at)
    values (${row.id}, ${row.title}, ${row.text}, ${row.severity}, ${row.workspace_ids}::uuid[], ${row.created_by}, ${row.created_at}, ${row.ends_at})
    returning ${columns}
  `)
}

export function lockBroadcast(db: Db, id: string): Promise<BroadcastRow | undefined> {
  return db.maybe<BroadcastRow>(sql`
    select ${columns}
      from broadcasts
     where id = ${id}
       for update
  `)
}

export function setWithdrawn(db: Db, at: { id: string; now: Date }): Promise<BroadcastRow> {
  return db.one<BroadcastRow>(sql`
    update broadcasts
       set withdrawn_at = ${at.now}
     where id = ${at.id}
       and withdrawn_at is null
    returning ${columns}
  `)
}

/** The number of these workspaces that exist. */
export async function countWorkspaces(db: Db, ids: readonly string[]): Promise<number> {
  const { found } = await db.one<{ found: number }>(sql`
    select count(*)::int as found
      from workspaces
     where id = any (${ids}::uuid[])
  `)
  return found
}
