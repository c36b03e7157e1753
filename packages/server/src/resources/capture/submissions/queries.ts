import { LIMITS, TITLE_HEADERS, type ORIGIN_KINDS, type VerifiedScheme } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { Repeats } from '../../../domain/capture/repeated.ts'
import { readable } from '../../../platform/readable-json.ts'
import type { IdRange } from '../../id-range.ts'

/** The part of the project that made an event without a sender; null in both: a sender sent it. */
export type OriginColumns = {
  readonly origin_kind: (typeof ORIGIN_KINDS)[number] | null
  readonly origin_id: string | null
}

/** How an event proved its sender; null: no proof was required. */
export type VerifiedColumns = { readonly verified_scheme: VerifiedScheme | null }

/** Each decision stores the scheme that passed. */
export const verifiedScheme = (submission: Sql): Sql => sql`${submission}.decision ->> 'verified_scheme'`

export type SubmissionRow = OriginColumns &
  VerifiedColumns & {
    readonly id: string
    readonly webhook_id: string | null
    readonly ingest_key_id: string | null
    readonly received_at: Date
    readonly source_ip: string | null
    readonly content_type: string | null
    readonly body_size: number
    readonly record_ids: readonly string[]
  }

type At = { readonly workspaceId: string; readonly projectId: string }

/** Newest first; `before` is the id to continue after. */
export function listSubmissions(
  db: Db,
  at: At & IdRange & { webhookId: string | null; before: string | null; limit: number },
): Promise<readonly SubmissionRow[]> {
  return db.many<SubmissionRow>(sql`
    select id, webhook_id, ingest_key_id, received_at, source_ip, content_type, body_size, record_ids, origin_kind, origin_id,
           ${verifiedScheme(sql`s`)} as verified_scheme
      from submissions s
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       ${at.webhookId === null ? sql`` : sql`and webhook_id = ${at.webhookId}`}
       ${at.before === null ? sql`` : sql`and id < ${at.before}`}
       ${at.fromId === null ? sql`` : sql`and id >= ${at.fromId}`}
       ${at.toId === null ? sql`` : sql`and id < ${at.toId}`}
     order by id desc
     limit ${at.limit}
  `)
}

export type WholeSubmissionRow = SubmissionRow &
  Repeats & {
    readonly query: string | null
    readonly headers: Record<string, string>
    readonly body: string | null
    readonly body_bytes: Buffer | null
    /** As text, because its values must retain their digits. */
    readonly decision: string
  }

export function findSubmission(db: Db, at: At & { id: string }): Promise<WholeSubmissionRow | undefined> {
  return db.maybe<WholeSubmissionRow>(sql`
    select id, webhook_id, ingest_key_id, received_at, source_ip, content_type, body_size, record_ids, origin_kind, origin_id,
           ${verifiedScheme(sql`s`)} as verified_scheme, query, headers, body, body_bytes, decision::text as decision, duplicates, key_reused
      from submissions s
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** The routing decisions of these submissions. */
export function listDecisions(
  db: Db,
  at: At & { ids: readonly string[] },
): Promise<readonly Pick<WholeSubmissionRow, 'id' | 'record_ids' | 'decision'>[]> {
  return db.many(sql`
    select id, record_ids, decision::text as decision
      from submissions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = any (${at.ids}::uuid[])
  `)
}

/**
 * The newest records of an ingest key, a source or a trigger. No index contains these, so only the newest `scannedMax` submissions are
 * searched.
 */
export async function listRecordIdsFrom(
  db: Db,
  at: At & {
    from: { readonly ingestKeyId: string } | { readonly originId: string }
    limit: number
    scannedMax: number
  },
): Promise<readonly string[]> {
  const rows = await db.many<{ id: string }>(sql`
    select filed.id
      from (
             select id, ingest_key_id, origin_id, record_ids
               from submissions
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
              order by id desc
              limit ${at.scannedMax}
           ) s
     cross join unnest(s.record_ids) as filed (id)
     where ${'ingestKeyId' in at.from ? sql`s.ingest_key_id = ${at.from.ingestKeyId}` : sql`s.origin_id = ${at.from.originId}`}
     order by s.id desc
     limit ${at.limit}
  `)
  return rows.map(({ id }) => id)
}

const ofNewest = (at: At): Sql => sql`(
  select workspace_id, project_id, id, webhook_id, received_at, body_size, decision
    from submissions
   where workspace_id = ${at.workspaceId}
     and project_id = ${at.projectId}
   order by id desc
   limit ${LIMITS.dryRunScannedMax}
)`

// As text, because PostgreSQL's operators refuse a document with \u0000, which a value may contain.
const reachedRules: Sql = sql`
  and webhook_id is null
  and decision::text ~ '^[{]("verified_scheme":"[a-z_]+",)?"rules":'
`

/** A stored body by its size. */
export type StoredSizeRow = { readonly id: string; readonly received_at: Date; readonly bytes: number }

/**
 * The newest bodies of one webhook or, with null, those of a project that reached its rules: with a total of at most `bytesMax`, plus the
 * body that exceeds it. No index covers the second case, so only the newest submissions are searched.
 */
export function listStoredSizes(
  db: Db,
  at: At & { webhookId: string | null; limit: number; bytesMax: number },
): Promise<readonly StoredSizeRow[]> {
  return db.many<StoredSizeRow>(sql`
    select id, received_at, bytes
      from (
             select id, received_at, body_size as bytes,
                    sum(body_size) over (order by id desc rows between unbounded preceding and 1 preceding) as newer_bytes
               from (
                      select id, received_at, body_size
                        from ${at.webhookId === null ? ofNewest(at) : sql`submissions`} candidates
                       where workspace_id = ${at.workspaceId}
                         and project_id = ${at.projectId}
                         ${at.webhookId === null ? reachedRules : sql`and webhook_id = ${at.webhookId}`}
                       order by id desc
                       limit ${at.limit}
                    ) newest
           ) sized
     where coalesce(newer_bytes, 0) < ${at.bytesMax}
     order by id desc
  `)
}

/** The ids of these submissions that are stored. */
export async function findStored(
  db: Db,
  asked: readonly (At & { readonly id: string })[],
): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ id: string }>(sql`
    select id
      from submissions
     where (workspace_id, project_id, id) in (
             select unnest(${asked.map((one) => one.workspaceId)}::uuid[]),
                    unnest(${asked.map((one) => one.projectId)}::uuid[]),
                    unnest(${asked.map((one) => one.id)}::uuid[])
           )
  `)
  return new Set(rows.map((row) => row.id))
}

const known = TITLE_HEADERS.reduce<Sql | undefined>(
  (before, name) =>
    before === undefined ? sql`s.headers ->> ${name}::text` : sql`${before}, s.headers ->> ${name}::text`,
  undefined,
)

/** The name of the event in the headers of submission `s`, by the setting of its endpoint; null when a credential was masked there. */
export const headerTitle: Sql = sql`(
  select left(nullif(nullif(trim(title), ''), '•••'), 200)
    from (
           select case when w.event_title is null then coalesce(${known ?? sql`null`})
                       else s.headers ->> lower(${readable(sql`w.event_title`)} ->> 'header') end as title
             from (select 1) one
             left join webhooks w
               on w.workspace_id = s.workspace_id
              and w.project_id = s.project_id
              and w.id = s.webhook_id
         ) titled
)`
