import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { IdRange } from '../../id-range.ts'
import { headerTitle, verifiedScheme, type OriginColumns, type VerifiedColumns } from '../submissions/index.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type RecordRow = OriginColumns &
  VerifiedColumns & {
    readonly id: string
    readonly dataset: string
    readonly submission_id: string
    readonly received_at: Date
    readonly webhook_id: string | null
    /** The name of the event in the headers of its request. */
    readonly header_title: string | null
    /** The text of the payload, taken from the submission when the record is its whole body. */
    readonly data: string
  }

/** A record without the columns of its submission. */
export type BareRecordRow = Omit<
  RecordRow,
  'data' | 'webhook_id' | 'header_title' | keyof OriginColumns | keyof VerifiedColumns
>

const columns: Sql = sql`
  r.id, r.dataset, r.submission_id, r.received_at, s.webhook_id, s.origin_kind, s.origin_id, ${headerTitle} as header_title,
  ${verifiedScheme(sql`s`)} as verified_scheme, coalesce(r.data, s.body) as data
`
const withSubmission: Sql = sql`
  records r
  join submissions s
    on s.workspace_id = r.workspace_id
   and s.project_id = r.project_id
   and s.id = r.submission_id
`

/**
 * Newest first; `before` is the id to continue after. A page ends with the record that exceeds `bytesMax`, and has at least one,
 * if there is one. `more`: there are older ones.
 */
export async function listRecords(
  db: Db,
  at: At & IdRange & { dataset: string | null; before: string | null; limit: number; bytesMax: number },
): Promise<{ readonly rows: readonly RecordRow[]; readonly more: boolean }> {
  const rows = await db.many<RecordRow & { readonly place: number; readonly found: number }>(sql`
    select id, dataset, submission_id, received_at, webhook_id, origin_kind, origin_id, header_title, verified_scheme, data,
           place::int as place, found::int as found
      from (
             select id, dataset, submission_id, received_at, webhook_id, origin_kind, origin_id, header_title, verified_scheme, data,
                    count(*) over () as found, row_number() over newest as place,
                    sum(octet_length(data)) over (newest rows between unbounded preceding and 1 preceding) as newer_bytes
               from (
                      select ${columns}
                        from ${withSubmission}
                       where r.workspace_id = ${at.workspaceId}
                         and r.project_id = ${at.projectId}
                         ${at.dataset === null ? sql`` : sql`and r.dataset = ${at.dataset}`}
                         ${at.before === null ? sql`` : sql`and r.id < ${at.before}`}
                         ${at.fromId === null ? sql`` : sql`and r.id >= ${at.fromId}`}
                         ${at.toId === null ? sql`` : sql`and r.id < ${at.toId}`}
                       order by r.id desc
                       limit ${at.limit + 1}
                    ) page
             window newest as (order by id desc)
           ) sized
     where place <= ${at.limit}
       and coalesce(newer_bytes, 0) < ${at.bytesMax}
     order by id desc
  `)
  return { rows, more: rows.length < (rows[0]?.found ?? 0) }
}

export type WebhookRecordRow = Pick<RecordRow, 'id' | 'received_at'> & {
  /** True when it arrived through /v1/webhooks/{ingest_key}/{slug}. */
  readonly by_key: boolean
  /** Size of the payload in bytes. */
  readonly bytes: number
}

const sized: Sql = sql`
  r.id, r.received_at, s.ingest_key_id is not null as by_key, octet_length(coalesce(r.data, s.body)) as bytes
`

/**
 * The newest records of a webhook without their payloads, found through its submissions (submissions_webhook). Submissions without a
 * record are skipped.
 */
export function listWebhookRecords(
  db: Db,
  at: At & { webhookId: string; limit: number },
): Promise<readonly WebhookRecordRow[]> {
  return db.many<WebhookRecordRow>(sql`
    select ${sized}
      from (
             select ingest_key_id, body, record_ids
               from submissions
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and webhook_id = ${at.webhookId}
                and record_ids <> '{}'
              order by id desc
              limit ${at.limit}
           ) s
     cross join unnest(s.record_ids) as filed (id)
      join records r
        on r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = filed.id
     order by r.id desc
     limit ${at.limit}
  `)
}

/** Like `listWebhookRecords`, for records by their ids, unordered. */
export function listSizedRecords(db: Db, at: At & { ids: readonly string[] }): Promise<readonly WebhookRecordRow[]> {
  return db.many<WebhookRecordRow>(sql`
    select ${sized}
      from ${withSubmission}
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = any (${at.ids}::uuid[])
  `)
}

/** Records by their ids, without their payloads. */
export function listRecordsById(db: Db, at: At & { ids: readonly string[] }): Promise<readonly BareRecordRow[]> {
  return db.many<BareRecordRow>(sql`
    select id, dataset, submission_id, received_at
      from records
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = any (${at.ids}::uuid[])
     order by id
  `)
}

/** The newest records of a dataset, or of the project, without their payloads. */
export function listNewestRecords(
  db: Db,
  at: At & { dataset: string | null; limit: number },
): Promise<readonly BareRecordRow[]> {
  return db.many<BareRecordRow>(sql`
    select id, dataset, submission_id, received_at
      from records
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       ${at.dataset === null ? sql`` : sql`and dataset = ${at.dataset}`}
     order by id desc
     limit ${at.limit}
  `)
}

/** The number of services like this one that the event has passed. */
export type Hops = { readonly hops: number }

export function findRecord(db: Db, at: At & { id: string }): Promise<(RecordRow & Hops) | undefined> {
  return db.maybe<RecordRow & Hops>(sql`
    select ${columns}, r.hops
      from ${withSubmission}
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = ${at.id}
  `)
}
