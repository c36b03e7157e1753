import { sql, type Db } from '../../platform/db.ts'

/** Everything that one 201 promises, as rows. */
export type EventRows = {
  readonly workspaceId: string
  readonly projectId: string
  readonly submission: {
    readonly id: string
    readonly webhookId: string | null
    readonly ingestKeyId: string | null
    readonly receivedAt: number
    readonly hops: number
    readonly sourceIp: string | null
    readonly contentType: string | null
    readonly headers: string
    readonly body: string | null
    readonly bodyHex: string | null
    readonly bodySize: number
    readonly decision: string
  }
  readonly records: readonly { readonly id: string; readonly dataset: string; readonly data: string | null }[]
  readonly deliveries: readonly { readonly id: string; readonly recordId: string; readonly destinationId: string; readonly paused: boolean }[]
  /** Datasets that this event is the first to name. */
  readonly newDatasets: readonly { readonly id: string; readonly name: string }[]
}

const time = (ms: number): string => new Date(ms).toISOString()

/**
 * The one commit: submissions, records, deliveries and new datasets of a whole batch in one statement, so that a
 * process may die at any instruction and no 201 is broken. The only statement that writes four rooms' tables.
 */
// oxlint-disable-next-line max-lines-per-function -- one statement is one screen of SQL
export async function insertEvents(db: Db, events: readonly EventRows[]): Promise<void> {
  const submissions = events.map((event) => event.submission)
  const records = events.flatMap((event) => event.records.map((record) => ({ ...record, event })))
  const deliveries = events.flatMap((event) => event.deliveries.map((delivery) => ({ ...delivery, event })))
  const datasets = events.flatMap((event) => event.newDatasets.map((dataset) => ({ ...dataset, event })))
  await db.run(sql`
    with new_submissions as (
      insert into submissions (workspace_id, project_id, id, webhook_id, ingest_key_id, received_at, source_ip,
                               content_type, headers, body, body_bytes, body_size, decision, record_ids)
      select workspace_id, project_id, id, webhook_id, ingest_key_id, received_at, source_ip,
             content_type, headers::json, body, decode(body_hex, 'hex'), body_size, decision::json, record_ids::uuid[]
        from unnest(
          ${events.map((event) => event.workspaceId)}::uuid[],
          ${events.map((event) => event.projectId)}::uuid[],
          ${submissions.map((row) => row.id)}::uuid[],
          ${submissions.map((row) => row.webhookId)}::uuid[],
          ${submissions.map((row) => row.ingestKeyId)}::uuid[],
          ${submissions.map((row) => time(row.receivedAt))}::timestamptz[],
          ${submissions.map((row) => row.sourceIp)}::text[],
          ${submissions.map((row) => row.contentType)}::text[],
          ${submissions.map((row) => row.headers)}::text[],
          ${submissions.map((row) => row.body)}::text[],
          ${submissions.map((row) => row.bodyHex)}::text[],
          ${submissions.map((row) => row.bodySize)}::int[],
          ${submissions.map((row) => row.decision)}::text[],
          ${events.map((event) => `{${event.records.map((record) => record.id).join(',')}}`)}::text[]
        ) as row (workspace_id, project_id, id, webhook_id, ingest_key_id, received_at, source_ip,
                  content_type, headers, body, body_hex, body_size, decision, record_ids)
    ), new_records as (
      insert into records (workspace_id, project_id, id, submission_id, dataset, received_at, hops, data)
      select workspace_id, project_id, id, submission_id, dataset, received_at, hops, data
        from unnest(
          ${records.map((row) => row.event.workspaceId)}::uuid[],
          ${records.map((row) => row.event.projectId)}::uuid[],
          ${records.map((row) => row.id)}::uuid[],
          ${records.map((row) => row.event.submission.id)}::uuid[],
          ${records.map((row) => row.dataset)}::text[],
          ${records.map((row) => time(row.event.submission.receivedAt))}::timestamptz[],
          ${records.map((row) => row.event.submission.hops)}::smallint[],
          ${records.map((row) => row.data)}::text[]
        ) as row (workspace_id, project_id, id, submission_id, dataset, received_at, hops, data)
    ), new_deliveries as (
      insert into deliveries (workspace_id, project_id, id, record_id, destination_id, state, pause_reason,
                              next_attempt_at, created_at, updated_at)
      select workspace_id, project_id, id, record_id, destination_id,
             case when paused then 'paused' else 'pending' end,
             case when paused then 'destination_disabled' end,
             case when paused then null else at end, at, at
        from unnest(
          ${deliveries.map((row) => row.event.workspaceId)}::uuid[],
          ${deliveries.map((row) => row.event.projectId)}::uuid[],
          ${deliveries.map((row) => row.id)}::uuid[],
          ${deliveries.map((row) => row.recordId)}::uuid[],
          ${deliveries.map((row) => row.destinationId)}::uuid[],
          ${deliveries.map((row) => row.paused)}::bool[],
          ${deliveries.map((row) => time(row.event.submission.receivedAt))}::timestamptz[]
        ) as row (workspace_id, project_id, id, record_id, destination_id, paused, at)
    )
    insert into datasets (workspace_id, project_id, id, name, created_at)
    select workspace_id, project_id, id, name, at
      from unnest(
        ${datasets.map((row) => row.event.workspaceId)}::uuid[],
        ${datasets.map((row) => row.event.projectId)}::uuid[],
        ${datasets.map((row) => row.id)}::uuid[],
        ${datasets.map((row) => row.name)}::text[],
        ${datasets.map((row) => time(row.event.submission.receivedAt))}::timestamptz[]
      ) as row (workspace_id, project_id, id, name, at)
    on conflict (workspace_id, project_id, name) do nothing
  `)
}

export type SubmissionRow = {
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
  at: At & { webhookId: string | null; before: string | null; limit: number },
): Promise<readonly SubmissionRow[]> {
  return db.many<SubmissionRow>(sql`
    select id, webhook_id, ingest_key_id, received_at, source_ip, content_type, body_size, record_ids
      from submissions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.webhookId}::uuid is null or webhook_id = ${at.webhookId})
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export type WholeSubmissionRow = SubmissionRow & {
  readonly headers: Record<string, string>
  readonly body: string | null
  readonly body_bytes: Buffer | null
  /** As text: the values seen keep their digits. */
  readonly decision: string
}

export function findSubmission(db: Db, at: At & { id: string }): Promise<WholeSubmissionRow | undefined> {
  return db.maybe<WholeSubmissionRow>(sql`
    select id, webhook_id, ingest_key_id, received_at, source_ip, content_type, body_size, record_ids,
           headers, body, body_bytes, decision::text as decision
      from submissions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** Whether a batch whose commit nobody answered was committed after all: its first submission tells for all of it. */
export async function isSubmissionStored(db: Db, at: At & { id: string }): Promise<boolean> {
  const row = await db.maybe(sql`
    select 1 as stored
      from submissions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
  return row !== undefined
}
