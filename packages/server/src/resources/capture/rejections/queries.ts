import type { RejectionReason } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import type { IdRange } from '../../id-range.ts'

/** The refusals of one credential for one reason in one minute that a process counted since its last write. */
export type CountedRow = {
  readonly workspaceId: string
  readonly projectId: string
  readonly id: string
  readonly webhookId: string | null
  readonly ingestKeyId: string | null
  readonly reason: string
  readonly status: number
  readonly at: number
  readonly sourceIp: string | null
  readonly method: string
  readonly contentType: string | null
  readonly count: number
  readonly audited: boolean
}

/** Adds counts to their rows, in one order, so processes that write the same rows do not deadlock. */
export async function addRejections(db: Db, rows: readonly CountedRow[]): Promise<void> {
  await db.run(sql`
    insert into rejections (workspace_id, project_id, id, webhook_id, ingest_key_id, reason, status, at, source_ip,
                            method, content_type, count, audited_count, counted_xid)
    select row.workspace_id, row.project_id, row.id, row.webhook_id, row.ingest_key_id, row.reason, row.status,
           to_timestamp(row.at_ms / 1000), row.source_ip, row.method, row.content_type, row.count,
           case when row.audited then 0 end, pg_current_xact_id()::text::bigint
      from unnest(${rows.map((row) => row.workspaceId)}::uuid[], ${rows.map((row) => row.projectId)}::uuid[],
                  ${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.webhookId)}::uuid[],
                  ${rows.map((row) => row.ingestKeyId)}::uuid[], ${rows.map((row) => row.reason)}::text[],
                  ${rows.map((row) => row.status)}::smallint[], ${rows.map((row) => row.at)}::float8[],
                  ${rows.map((row) => row.sourceIp)}::text[], ${rows.map((row) => row.method)}::text[],
                  ${rows.map((row) => row.contentType)}::text[], ${rows.map((row) => row.count)}::bigint[],
                  ${rows.map((row) => row.audited)}::bool[])
             as row (workspace_id, project_id, id, webhook_id, ingest_key_id, reason, status, at_ms, source_ip,
                     method, content_type, count, audited)
      join projects p
        on p.workspace_id = row.workspace_id
       and p.id = row.project_id
       and p.deleted_at is null
     order by row.workspace_id, row.project_id, row.id
    on conflict (workspace_id, project_id, id) do update
       set count = rejections.count + excluded.count,
           counted_xid = excluded.counted_xid,
           at = greatest(rejections.at, excluded.at),
           status = case when excluded.at >= rejections.at then excluded.status else rejections.status end,
           source_ip = case when excluded.at >= rejections.at then excluded.source_ip else rejections.source_ip end,
           method = case when excluded.at >= rejections.at then excluded.method else rejections.method end,
           content_type = case when excluded.at >= rejections.at then excluded.content_type else rejections.content_type end
  `)
}

type At = { readonly workspaceId: string; readonly projectId: string }

export type RejectionRow = {
  readonly id: string
  readonly webhook_id: string | null
  readonly ingest_key_id: string | null
  readonly reason: RejectionReason
  readonly status: number
  readonly count: number
  readonly at: Date
  readonly source_ip: string | null
  readonly method: string
  readonly content_type: string | null
}

const columns: Sql = sql`r.id, r.webhook_id, r.ingest_key_id, r.reason, r.status, r.count, r.at, r.source_ip, r.method, r.content_type`

export type RejectionsAt = At &
  IdRange & {
    readonly webhookId: string | null
    readonly ingestKeyId: string | null
    readonly reason: RejectionReason | null
    readonly before: string | null
    readonly limit: number
  }

/** Newest minute first. */
export function listRejections(db: Db, at: RejectionsAt): Promise<readonly RejectionRow[]> {
  return db.many<RejectionRow>(sql`
    select ${columns}
      from rejections r
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       ${at.webhookId === null ? sql`` : sql`and r.webhook_id = ${at.webhookId}`}
       ${at.ingestKeyId === null ? sql`` : sql`and r.ingest_key_id = ${at.ingestKeyId}`}
       ${at.reason === null ? sql`` : sql`and r.reason = ${at.reason}`}
       ${at.before === null ? sql`` : sql`and r.id < ${at.before}`}
       ${at.fromId === null ? sql`` : sql`and r.id >= ${at.fromId}`}
       ${at.toId === null ? sql`` : sql`and r.id < ${at.toId}`}
     order by r.id desc
     limit ${at.limit}
  `)
}

export function findRejection(db: Db, at: At & { id: string }): Promise<RejectionRow | undefined> {
  return db.maybe<RejectionRow>(sql`
    select ${columns}
      from rejections r
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = ${at.id}
  `)
}

/** Deletes the rows of a project that is being deleted. */
export function deleteRejectionsOfProject(db: Db, at: At): Promise<number> {
  return db.run(sql`
    delete from rejections
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
}

/**
 * Deletes rows of the workspaces on a plan from before a time, and rows that were written into a project during its
 * deletion. At most `limit`; returns how many.
 */
export function deleteOldRejections(db: Db, at: { plan: string; before: number; limit: number }): Promise<number> {
  return db.run(sql`
    delete from rejections
     where ctid = any (array(
             select r.ctid
               from workspaces w
               join projects p on p.workspace_id = w.id
               join rejections r on r.workspace_id = p.workspace_id and r.project_id = p.id
              where w.plan = ${at.plan}
                and (r.id < ${uuidv7Floor(at.before)} or p.deleted_at is not null)
              limit ${at.limit}
           ))
  `)
}

/** The names of the plans of all workspaces. */
export async function plansInUse(db: Db): Promise<readonly string[]> {
  const rows = await db.many<{ plan: string }>(sql`select distinct plan from workspaces`)
  return rows.map(({ plan }) => plan)
}

/** A credential's minute with refused signatures that no audit row reports yet. */
export type UnauditedMinute = At & {
  readonly webhookId: string | null
  readonly ingestKeyId: string | null
  readonly minute: Date
}

// The ids of one minute share their first 48 bits.
const minuteOf = (id: Sql): Sql => sql`left(${id}::text, 13)`
const ofMinute = (minute: Sql): Sql => sql`
  between (${minute} || '-0000-0000-000000000000')::uuid and (${minute} || '-ffff-ffff-ffffffffffff')::uuid
`

/** Minutes with refusals to report: those with fewer audit rows than `rowsSoonMax`, and all from before `closedBefore` (milliseconds). */
export async function unauditedMinutes(
  db: Db,
  at: { closedBefore: number; rowsSoonMax: number; without: readonly string[]; limit: number },
): Promise<readonly UnauditedMinute[]> {
  const rows = await db.many<{
    workspace_id: string
    project_id: string
    webhook_id: string | null
    ingest_key_id: string | null
    minute: Date
  }>(sql`
    select distinct workspace_id, project_id, webhook_id, ingest_key_id, date_trunc('minute', at, 'UTC') as minute
      from (
             select r.workspace_id, r.project_id, r.webhook_id, r.ingest_key_id, r.at
               from rejections r
              where r.audited_count < r.count
                and r.project_id <> all (${at.without}::uuid[])
                and (r.id < ${uuidv7Floor(at.closedBefore)} or not exists (
                      select 1
                        from rejections told
                       where told.workspace_id = r.workspace_id
                         and told.project_id = r.project_id
                         and told.id ${ofMinute(minuteOf(sql`r.id`))}
                         and told.webhook_id is not distinct from r.webhook_id
                         and told.ingest_key_id is not distinct from r.ingest_key_id
                         and told.audit_rows >= ${at.rowsSoonMax}
                    ))
              order by r.id
              limit ${at.limit}
           ) due
  `)
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    projectId: row.project_id,
    webhookId: row.webhook_id,
    ingestKeyId: row.ingest_key_id,
    minute: row.minute,
  }))
}

export type AuditedRow = {
  readonly reason: RejectionReason
  readonly count: number
  readonly at: Date
  readonly source_ip: string | null
}

/** Takes the unreported refusals of a minute, so that no other process reports them: for each reason, their number and the latest origin. */
export function setAudited(db: Db, at: UnauditedMinute): Promise<readonly AuditedRow[]> {
  const from = at.minute.getTime()
  return db.many<AuditedRow>(sql`
    update rejections r
       set audited_count = r.count,
           audit_rows = r.audit_rows + 1
      from (
             select id, audited_count
               from rejections
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and id >= ${uuidv7Floor(from)}
                and id < ${uuidv7Floor(from + 60_000)}
                and webhook_id is not distinct from ${at.webhookId}
                and ingest_key_id is not distinct from ${at.ingestKeyId}
                and audited_count < count
              order by id
                for update
           ) due
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = due.id
    returning r.reason, r.count - due.audited_count as count, r.at, r.source_ip
  `)
}
