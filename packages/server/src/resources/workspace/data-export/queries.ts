import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'

type At = { readonly workspaceId: string; readonly id: string }

export type ExportRow = {
  readonly workspace_id: string
  readonly id: string
  readonly state: 'pending' | 'running' | 'ready' | 'failed'
  readonly requested_by: string | null
  readonly created_at: Date
  readonly claim: number
  readonly finished_at: Date | null
  readonly expires_at: Date | null
  readonly error: string | null
  readonly files_done: number
  readonly files_total: number
  readonly rows_done: number
  readonly rows_total: number | null
  readonly bytes: number
  readonly sha256: Buffer | null
}

const columns: Sql = sql`
  workspace_id, id, state, requested_by, created_at, claim, finished_at, expires_at, error, files_done, files_total, rows_done, rows_total,
  bytes, sha256
`

/** Newest first; `before` is the id to continue after. */
export function listExports(
  db: Db,
  at: { workspaceId: string; before: string | null; limit: number },
): Promise<readonly ExportRow[]> {
  return db.many<ExportRow>(sql`
    select ${columns}
      from data_exports
     where workspace_id = ${at.workspaceId}
       and deleted_at is null
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export function findExport(db: Db, at: At): Promise<ExportRow | undefined> {
  return db.maybe<ExportRow>(sql`
    select ${columns}
      from data_exports
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and deleted_at is null
  `)
}

/** The number of exports being written or waiting for it, and the number that can be downloaded now. */
export function countExports(
  db: Db,
  at: { workspaceId: string; now: Date },
): Promise<{ readonly underway: number; readonly ready: number }> {
  return db.one<{ underway: number; ready: number }>(sql`
    select count(*) filter (where state in ('pending', 'running'))::int as underway,
           count(*) filter (where state = 'ready' and expires_at > ${at.now})::int as ready
      from data_exports
     where workspace_id = ${at.workspaceId}
       and deleted_at is null
  `)
}

export function insertExport(
  db: Db,
  row: At & { requestedBy: string | null; filesTotal: number; now: Date },
): Promise<ExportRow> {
  return db.one<ExportRow>(sql`
    insert into data_exports (workspace_id, id, state, requested_by, created_at, files_total)
    values (${row.workspaceId}, ${row.id}, 'pending', ${row.requestedBy}, ${row.now}, ${row.filesTotal})
    returning ${columns}
  `)
}

/** Marks an export as deleted; its file is deleted later, piece by piece. Returns 0 when there is none. */
export function deleteExport(db: Db, at: At & { now: Date }): Promise<number> {
  return db.run(sql`
    update data_exports
       set deleted_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and deleted_at is null
  `)
}

/** One piece of the file of an export. */
export async function findChunk(db: Db, at: At & { number: number }): Promise<Buffer | undefined> {
  const row = await db.maybe<{ data: Buffer }>(sql`
    select data
      from data_export_chunks
     where workspace_id = ${at.workspaceId}
       and export_id = ${at.id}
       and number = ${at.number}
  `)
  return row?.data
}

/** Claims the oldest export of any workspace that no process writes. Its previous writer died, or lost the claim. */
export function claimExport(db: Db, at: { now: Date; until: Date }): Promise<ExportRow | undefined> {
  return db.maybe<ExportRow>(sql`
    update data_exports
       set state = 'running',
           claim = claim + 1,
           claimed_until = ${at.until},
           files_done = 0,
           rows_done = 0,
           rows_total = null,
           bytes = 0
     where (workspace_id, id) = (
             select workspace_id, id
               from data_exports
              where state in ('pending', 'running')
                and swept_at is null
                and deleted_at is null
                and (claimed_until is null or claimed_until <= ${at.now})
              order by created_at, id
              limit 1
                for update skip locked
           )
       and state in ('pending', 'running')
    returning ${columns}
  `)
}

export type Claim = At & { readonly claim: number }

const claimed = ({ workspaceId, id, claim }: Claim): Sql => sql`
  workspace_id = ${workspaceId} and id = ${id} and claim = ${claim} and state = 'running' and deleted_at is null
`

export type Progress = {
  readonly filesDone: number
  readonly rowsDone: number
  readonly rowsTotal: number
  readonly bytes: number
}

/** Stores the progress, with the next piece of the file if there is one, and extends the claim. False when the claim is lost. */
export async function putProgress(
  db: Db,
  at: Claim & Progress & { until: Date; chunk?: { number: number; data: Uint8Array } },
): Promise<boolean> {
  // oxlint-disable-next-line house/tenant-statement -- claimed() names the workspace
  const updated = sql`
    update data_exports
       set claimed_until = ${at.until},
           files_done = ${at.filesDone},
           rows_done = ${at.rowsDone},
           rows_total = greatest(${at.rowsTotal}::bigint, ${at.rowsDone}::bigint),
           bytes = ${at.bytes}
     where ${claimed(at)}
  `
  if (at.chunk === undefined) return (await db.run(updated)) === 1
  const { number, data } = at.chunk
  return (
    (await db.run(sql`
      with mine as (${updated} returning workspace_id, id)
      insert into data_export_chunks (workspace_id, export_id, number, data)
      select workspace_id, id, ${number}, ${data}
        from mine
    `)) === 1
  )
}

/** False when the claim is lost. */
export async function finishExport(
  db: Db,
  at: Claim & { now: Date; expiresAt: Date; sha256: Uint8Array },
): Promise<boolean> {
  return (
    // oxlint-disable-next-line house/tenant-statement -- claimed() names the workspace
    (await db.run(sql`
      update data_exports
         set state = 'ready',
             claimed_until = null,
             finished_at = ${at.now},
             expires_at = ${at.expiresAt},
             sha256 = ${at.sha256},
             rows_total = rows_done
       where ${claimed(at)}
    `)) === 1
  )
}

/** Lets another process start again, from this time on. */
export async function releaseExport(db: Db, at: Claim & { from: Date }): Promise<void> {
  // oxlint-disable-next-line house/tenant-statement -- claimed() names the workspace
  await db.run(sql`
    update data_exports
       set claimed_until = ${at.from}
     where ${claimed(at)}
  `)
}

export async function failExport(db: Db, at: Claim & { now: Date; error: string }): Promise<void> {
  // oxlint-disable-next-line house/tenant-statement -- claimed() names the workspace
  await db.run(sql`
    update data_exports
       set state = 'failed',
           claimed_until = null,
           finished_at = ${at.now},
           error = ${at.error}
     where ${claimed(at)}
  `)
}

/** Deletes some pieces of a file. Returns how many. */
export function deleteChunks(db: Db, at: At & { limit: number }): Promise<number> {
  return db.run(sql`
    delete from data_export_chunks
     where workspace_id = ${at.workspaceId}
       and export_id = ${at.id}
       and number in (
             select number
               from data_export_chunks
              where workspace_id = ${at.workspaceId}
                and export_id = ${at.id}
              limit ${at.limit}
           )
  `)
}

/** An export whose file must be deleted (deleted, failed or expired) and that no process is writing. */
export function findUnswept(
  db: Db,
  { now, without }: { now: Date; without: readonly string[] },
): Promise<{ readonly workspace_id: string; readonly id: string } | undefined> {
  return db.maybe<{ workspace_id: string; id: string }>(sql`
    select workspace_id, id
      from data_exports
     where swept_at is null
       and id <> all (${without}::uuid[])
       and (deleted_at is not null or state = 'failed' or (state = 'ready' and expires_at <= ${now}))
     order by created_at
     limit 1
  `)
}

export async function setSwept(db: Db, at: At & { now: Date }): Promise<void> {
  await db.run(sql`
    update data_exports
       set swept_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and swept_at is null
  `)
}

/** When an export waits for a process. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const exportsDue: Due = (now) => sql`
  select
    from data_exports
   where state in ('pending', 'running')
     and swept_at is null
     and (claimed_until is null or claimed_until <= ${now})
`
