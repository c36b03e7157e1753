import type { RestorableKind } from '@postroad/contract'
import { named, sql, type Db, type Sql } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'

/** The statements of this room copy rows of the tables of several rooms, whatever columns these have. */

type At = { readonly workspaceId: string; readonly projectId: string }

export type DeletionRow = {
  readonly id: string
  readonly kind: RestorableKind
  readonly resource_id: string
  readonly name: string
  readonly actor: string
  readonly agent: string | null
  readonly deleted_at: Date
  readonly expires_at: Date
}

const columns: Sql = sql`id, kind, resource_id, name, actor, agent, deleted_at, expires_at`

const list = (parts: readonly Sql[]): Sql => parts.reduce((all, part) => sql`${all}, ${part}`)

/** The rows of a resource in one table as JSON texts, locked until the transaction ends. */
export async function readRows(
  db: Db,
  at: At & { readonly table: string; readonly column: string; readonly id: string },
): Promise<readonly string[]> {
  const rows = await db.many<{ row: string }>(sql`
    select to_json(t)::text as row
      from ${named(at.table)} t
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and ${named(at.column)} = ${at.id}
       for update
  `)
  return rows.map(({ row }) => row)
}

export type Column = { readonly name: string; readonly is_json: boolean }

/** The columns of a table that a row can be inserted with. */
export function listColumns(db: Db, table: string): Promise<readonly Column[]> {
  return db.many<Column>(sql`
    select attname::text as name, atttypid = 'json'::regtype as is_json
      from pg_attribute
     where attrelid = ${table}::regclass
       and attnum > 0
       and not attisdropped
       and attgenerated = ''
     order by attnum
  `)
}

/** Escapes in columns with JSON that PostgreSQL stores but refuses to read: of U+0000, and of half a surrogate pair. */
const UNREADABLE = /\\(u(?=0000|[dD][89a-fA-F]))|\\./gs
const ESCAPE = String.raw`\u`

/**
 * Inserts copied rows. Columns that the copies lack, because a migration added them since, get their defaults. Returns how
 * many. While PostgreSQL reads the rows, `mark` takes the place of the start of an escape that it would refuse.
 */
export function putRows(
  db: Db,
  of: At & {
    readonly table: string
    readonly columns: readonly Column[]
    readonly rows: readonly string[]
    readonly mark: string
  },
): Promise<number> {
  const names = list(of.columns.map(({ name }) => named(name)))
  const values = list(
    of.columns.map(({ name, is_json }) =>
      is_json ? sql`replace(${named(name)}::text, ${of.mark}, ${ESCAPE})::json` : named(name),
    ),
  )
  const rows = of.rows.map((row) =>
    row.replaceAll(UNREADABLE, (escape, start?: string) => (start === undefined ? escape : of.mark)),
  )
  return db.run(sql`
    insert into ${named(of.table)} (${names})
    select ${values}
      from json_populate_recordset(null::${named(of.table)}, ${`[${rows.join(',')}]`}::json)
     where workspace_id = ${of.workspaceId}
       and project_id = ${of.projectId}
    on conflict do nothing
  `)
}

/** Replaces a sealed value of a row that was put back. */
export async function putSealed(
  db: Db,
  of: At & { readonly table: string; readonly column: string; readonly id: string; readonly sealed: Uint8Array },
): Promise<void> {
  await db.run(sql`
    update ${named(of.table)}
       set ${named(of.column)} = ${of.sealed}
     where workspace_id = ${of.workspaceId}
       and project_id = ${of.projectId}
       and id = ${of.id}
  `)
}

export async function insertDeletion(db: Db, row: At & DeletionRow & { readonly snapshot: Uint8Array }): Promise<void> {
  await db.run(sql`
    insert into deletions (workspace_id, project_id, id, kind, resource_id, name, actor, agent, deleted_at, expires_at, snapshot)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.kind}, ${row.resource_id}, ${row.name}, ${row.actor},
            ${row.agent}, ${row.deleted_at}, ${row.expires_at}, ${row.snapshot})
  `)
}

/** Erases the oldest deletions of a project, except the newest `retained`. */
export async function eraseBeyond(db: Db, at: At & { readonly retained: number }): Promise<void> {
  await db.run(sql`
    delete from deletions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and not resuming
       and id <= (
             select id
               from deletions
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
              order by id desc
             offset ${at.retained}
              limit 1
           )
  `)
}

type Listed = {
  readonly kind: RestorableKind | null
  readonly now: Date
  readonly before: string | null
  readonly limit: number
}

/** The deletions that can still be undone. */
export function listDeletions(db: Db, at: At & Listed): Promise<readonly DeletionRow[]> {
  return db.many<DeletionRow>(sql`
    select ${columns}
      from deletions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and snapshot is not null
       and expires_at > ${at.now}
       ${at.kind === null ? sql`` : sql`and kind = ${at.kind}`}
       ${at.before === null ? sql`` : sql`and id < ${at.before}`}
     order by id desc
     limit ${at.limit}
  `)
}

export type HeldDeletion = DeletionRow & { readonly snapshot: Buffer | null; readonly restored_at: Date | null }

/** A deletion, locked until the transaction ends. */
export function lockDeletion(db: Db, at: At & { readonly id: string }): Promise<HeldDeletion | undefined> {
  return db.maybe<HeldDeletion>(sql`
    select ${columns}, snapshot, restored_at
      from deletions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       for update
  `)
}

/** Erases the copy. `resuming`: a loop has deliveries of the restored destination to resume. */
export async function setRestored(
  db: Db,
  at: At & { readonly id: string; readonly now: Date; readonly resuming: boolean },
): Promise<void> {
  await db.run(sql`
    update deletions
       set snapshot = null,
           restored_at = ${at.now},
           resuming = ${at.resuming}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and restored_at is null
  `)
}

export type Resuming = {
  readonly workspace_id: string
  readonly project_id: string
  readonly id: string
  readonly resource_id: string
  readonly deleted_at: Date
  readonly restored_at: Date
}

/**
 * Restored destinations of all workspaces whose canceled deliveries are not all resumed, the earliest restored first.
 * One that was deleted again waits for its next restore. `without`: deletions to leave out.
 */
export function listResuming(
  db: Db,
  { without, limit }: { without: readonly string[]; limit: number },
): Promise<readonly Resuming[]> {
  // oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
  return db.many<Resuming>(sql`
    select workspace_id, project_id, id, resource_id, deleted_at, restored_at
      from deletions d
     where resuming
       and id <> all (${without}::uuid[])
       and exists (select from destinations t where t.workspace_id = d.workspace_id and t.id = d.resource_id)
     order by restored_at
     limit ${limit}
  `)
}

export async function setResumed(db: Db, at: At & { readonly id: string }): Promise<void> {
  await db.run(sql`
    update deletions
       set resuming = false
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and resuming
  `)
}

type Piece = { readonly before: Date; readonly limit: number }

/** Erases a batch of the copies of all workspaces that can no longer be restored. */
export async function eraseSnapshots(db: Db, at: Piece): Promise<void> {
  // oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
  await db.run(sql`
    update deletions
       set snapshot = null
     where ctid = any (array(
             select ctid
               from deletions
              where expires_at <= ${at.before}
                and snapshot is not null
              limit ${at.limit}
                for update skip locked
           ))
       and snapshot is not null
  `)
}

/** Erases a batch of the deletions of all workspaces from before this time. */
export async function eraseOld(db: Db, at: Piece): Promise<void> {
  // oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
  await db.run(sql`
    delete from deletions
     where ctid = any (array(
             select d.ctid
               from deletions d
              where deleted_at < ${at.before}
                and (not resuming
                     or not exists (select from destinations t
                                     where t.workspace_id = d.workspace_id and t.id = d.resource_id))
              limit ${at.limit}
           ))
  `)
}

/** When a restored destination has deliveries to resume. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const deletionsDue: Due = () => sql`select from deletions where resuming`
