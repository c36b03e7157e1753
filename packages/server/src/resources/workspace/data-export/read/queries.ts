import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import type { StoredRequest } from '../../../../domain/delivery/sent-request.ts'
import type { AttemptOfRow, DeliveryRow } from '../../../delivery/deliveries/index.ts'
import { verifiedScheme, type WholeSubmissionRow } from '../../../capture/submissions/index.ts'

/**
 * Whole tables, page by page along their keys, for tables that no list returns whole. A page is bounded in rows and in bytes, and has at
 * least one row.
 */

type InProject = { readonly workspaceId: string; readonly projectId: string }
/** From after `after` to before `before`, which is the time of the request. */
export type PageAt = InProject & { readonly after: string; readonly before: string }

const ROWS_MAX = 500
const BYTES_MAX = 4_194_304
const ATTEMPTS_MAX = 500
/** A lower number, because each version has all the settings of an endpoint. */
const VERSIONS_MAX = 50

const inside = ({ workspaceId, projectId, after, before }: PageAt, t: Sql): Sql => sql`
  ${t}.workspace_id = ${workspaceId}
  and ${t}.project_id = ${projectId}
  and ${t}.id > ${after}
  and ${t}.id < ${before}
`

export function readSubmissions(db: Db, at: PageAt): Promise<readonly WholeSubmissionRow[]> {
  return db.many<WholeSubmissionRow>(sql`
    select s.id, s.webhook_id, s.ingest_key_id, s.received_at, s.source_ip, s.content_type, s.body_size, s.record_ids,
           s.origin_kind, s.origin_id, ${verifiedScheme(sql`s`)} as verified_scheme,
           s.query, s.headers, s.body, s.body_bytes, s.decision::text as decision, s.duplicates, s.key_reused
      from (
             select id, sum(body_size) over (order by id) - body_size as bytes_before
               from (select s.id, s.body_size from submissions s where ${inside(at, sql`s`)} order by s.id limit ${ROWS_MAX}) keys
           ) page
      join submissions s
        on s.workspace_id = ${at.workspaceId}
       and s.project_id = ${at.projectId}
       and s.id = page.id
     where page.bytes_before < ${BYTES_MAX}
     order by s.id
  `)
}

export type WholeRecordRow = {
  readonly id: string
  readonly submission_id: string
  readonly dataset: string
  readonly received_at: Date
  readonly data: string
}

/** Records with their payload, which may be stored in their submission. */
export function readRecords(db: Db, at: PageAt): Promise<readonly WholeRecordRow[]> {
  return db.many<WholeRecordRow>(sql`
    select r.id, r.submission_id, r.dataset, r.received_at, coalesce(r.data, s.body) as data
      from (
             select id, sum(bytes) over (order by id) - bytes as bytes_before
               from (
                      select r.id, coalesce(octet_length(r.data), s.body_size) as bytes
                        from records r
                        join submissions s on ${ofSubmission}
                       where ${inside(at, sql`r`)}
                       order by r.id
                       limit ${ROWS_MAX}
                    ) keys
           ) page
      join records r
        on r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = page.id
      join submissions s on ${ofSubmission}
     where page.bytes_before < ${BYTES_MAX}
     order by r.id
  `)
}

const ofSubmission: Sql = sql`s.workspace_id = r.workspace_id and s.project_id = r.project_id and s.id = r.submission_id`

export function readDeliveries(db: Db, at: PageAt): Promise<readonly DeliveryRow[]> {
  return db.many<DeliveryRow>(sql`
    select page.id, page.record_id, coalesce(r.dataset, '') as dataset, page.destination_id, page.state, page.pause_reason, page.attempt_count,
           page.next_attempt_at, page.last_status, page.last_error, page.created_at, page.updated_at
      from (
             select id, record_id, destination_id, state, pause_reason, attempt_count, next_attempt_at, last_status, last_error,
                    created_at, updated_at, sum(attempt_count) over (order by id) - attempt_count as attempts_before
               from (
                      select d.id, d.record_id, d.destination_id, d.state, d.pause_reason, d.attempt_count, d.next_attempt_at,
                             d.last_status, d.last_error, d.created_at, d.updated_at
                        from deliveries d
                       where ${inside(at, sql`d`)}
                       order by d.id
                       limit ${ROWS_MAX}
                    ) read
           ) page
      left join records r
        on r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = page.record_id
     where page.attempts_before < ${ATTEMPTS_MAX}
     order by page.id
  `)
}

export type WholeAttemptRow = AttemptOfRow & {
  readonly request: StoredRequest | null
  readonly response_headers: Record<string, string> | null
  readonly response_body: string | null
}

/** Every attempt of these deliveries with all its columns, oldest first. */
export function readAttempts(
  db: Db,
  at: InProject & { deliveryIds: readonly string[] },
): Promise<readonly WholeAttemptRow[]> {
  return db.many<WholeAttemptRow>(sql`
    select id, delivery_id, number, trigger, started_at, duration_ms, outcome, response_status, response_headers, response_body,
           response_truncated, error_code, error_detail, next_attempt_at, request
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and delivery_id = any (${at.deliveryIds}::uuid[])
     order by number
  `)
}

export type WholeVersionRow = {
  readonly webhook_id: string
  readonly version: number
  readonly changed: readonly string[]
  readonly restored_from: number | null
  readonly actor: string
  readonly agent: string | null
  readonly created_at: Date
  readonly config: string
}

/** Versions of endpoints, with their settings as they are stored. */
export function readVersions(
  db: Db,
  at: InProject & { after: { webhookId: string; version: number } },
): Promise<readonly WholeVersionRow[]> {
  return db.many<WholeVersionRow>(sql`
    select webhook_id, version, changed, restored_from, actor, agent, created_at, config::text as config
      from webhook_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (webhook_id, version) > (${at.after.webhookId}::uuid, ${at.after.version}::int)
     order by webhook_id, version
     limit ${VERSIONS_MAX}
  `)
}

/** The events and deliveries of each month, of a workspace that has or had a quota. */
export function readUsage(
  db: Db,
  at: { workspaceId: string },
): Promise<readonly { readonly month: string; readonly events: number; readonly deliveries: number }[]> {
  return db.many<{ month: string; events: number; deliveries: number }>(sql`
    select to_char(month, 'YYYY-MM') as month, events, deliveries
      from monthly_usage
     where workspace_id = ${at.workspaceId}
     order by month
  `)
}

const COUNTED = {
  submissions: sql`submissions`,
  records: sql`records`,
  deliveries: sql`deliveries`,
  rejections: sql`rejections`,
} as const
export type CountedTable = keyof typeof COUNTED

/** The number of rows in the next piece of a table, and its end; null: there are no more rows. */
export function countPiece(
  db: Db,
  at: PageAt & { table: CountedTable; limit: number },
): Promise<{ readonly count: number; readonly last: string | null }> {
  return db.one<{ count: number; last: string | null }>(sql`
    select count(*)::int as count, max(id::text) as last
      from (select t.id from ${COUNTED[at.table]} t where ${inside(at, sql`t`)} order by t.id limit ${at.limit}) piece
  `)
}

/** Counts the tables with few rows: settings, people, the audit log, and the workspace itself. */
export async function countFew(
  db: Db,
  at: { workspaceId: string; projectIds: readonly string[]; before: Date },
): Promise<number> {
  const inProjects = sql`workspace_id = ${at.workspaceId} and project_id = any (${at.projectIds}::uuid[])`
  const { count } = await db.one<{ count: number }>(sql`
    select (select count(*) from datasets where ${inProjects}) + (select count(*) from webhooks where ${inProjects})
           + (select count(*) from record_views where ${inProjects}) + (select count(*) from rules where ${inProjects})
           + (select count(*) from destinations where ${inProjects}) + (select count(*) from ingest_keys where ${inProjects})
           + (select count(*) from webhook_versions where ${inProjects}) + (select count(*) from replays where ${inProjects})
           + (select count(*) from workflows where ${inProjects}) + (select count(*) from workflow_versions where ${inProjects})
           + (select count(*) from workflow_instances where ${inProjects}) + (select count(*) from invites where workspace_id = ${at.workspaceId}) + (select count(*) from monthly_usage where workspace_id = ${at.workspaceId})
           + (select count(*) from members where workspace_id = ${at.workspaceId}) + (select count(*) from api_keys where workspace_id = ${at.workspaceId})
           + (select count(*) from audit_rows where workspace_id = ${at.workspaceId} and at < ${at.before}) as count
  `)
  return count + at.projectIds.length + 1
}
