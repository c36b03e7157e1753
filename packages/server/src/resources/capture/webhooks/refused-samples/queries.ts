import type { RejectionReason } from '@postroad/contract'
import { sql, type Db } from '../../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/** One rejected request, already redacted. Columns of JSON are texts here. */
export type TakenSample = At & {
  readonly webhookId: string
  readonly reason: string
  readonly at: number
  readonly sourceIp: string | null
  readonly method: string
  readonly headerNames: string
  readonly signatureForms: string
  readonly scheme: string | null
  readonly failedStep: string | null
  readonly detail: string | null
  readonly headers: string | null
  readonly body: string | null
  readonly bodySize: number | null
}

/**
 * Replaces the samples that endpoints have for the same reasons. It locks each endpoint first, in one order, so that an endpoint whose
 * samples were just turned off gets none afterwards.
 */
export async function putSamples(db: Db, rows: readonly TakenSample[]): Promise<void> {
  await db.run(sql`
    insert into refused_samples (workspace_id, project_id, webhook_id, reason, at, source_ip, method, header_names,
                                 signature_forms, scheme, failed_step, detail, headers, body, body_size)
    select w.workspace_id, w.project_id, w.id, row.reason, to_timestamp(row.at_ms / 1000), row.source_ip, row.method,
           array(select json_array_elements_text(row.header_names::json)), row.signature_forms::json, row.scheme,
           row.failed_step, row.detail, row.headers::json, row.body, row.body_size
      from unnest(${rows.map((row) => row.workspaceId)}::uuid[], ${rows.map((row) => row.projectId)}::uuid[],
                  ${rows.map((row) => row.webhookId)}::uuid[], ${rows.map((row) => row.reason)}::text[],
                  ${rows.map((row) => row.at)}::float8[], ${rows.map((row) => row.sourceIp)}::text[],
                  ${rows.map((row) => row.method)}::text[], ${rows.map((row) => row.headerNames)}::text[],
                  ${rows.map((row) => row.signatureForms)}::text[], ${rows.map((row) => row.scheme)}::text[],
                  ${rows.map((row) => row.failedStep)}::text[], ${rows.map((row) => row.detail)}::text[],
                  ${rows.map((row) => row.headers)}::text[], ${rows.map((row) => row.body)}::text[],
                  ${rows.map((row) => row.bodySize)}::integer[])
             as row (workspace_id, project_id, webhook_id, reason, at_ms, source_ip, method, header_names,
                     signature_forms, scheme, failed_step, detail, headers, body, body_size)
      join webhooks w
        on w.workspace_id = row.workspace_id
       and w.project_id = row.project_id
       and w.id = row.webhook_id
       and w.refused_samples
     order by w.workspace_id, w.project_id, w.id, row.reason
       for share of w
    on conflict (workspace_id, project_id, webhook_id, reason) do update
       set at = excluded.at,
           source_ip = excluded.source_ip,
           method = excluded.method,
           header_names = excluded.header_names,
           signature_forms = excluded.signature_forms,
           scheme = excluded.scheme,
           failed_step = excluded.failed_step,
           detail = excluded.detail,
           headers = excluded.headers,
           body = excluded.body,
           body_size = excluded.body_size
     where refused_samples.at <= excluded.at
  `)
}

export type SampleRow = {
  readonly reason: RejectionReason
  readonly at: Date
  readonly source_ip: string | null
  readonly method: string
  readonly header_names: readonly string[]
  readonly signature_forms: Readonly<Record<string, string>>
  readonly scheme: string | null
  readonly failed_step: string | null
  readonly detail: string | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
  readonly body_size: number | null
}

/** Latest first. Samples from before `since` only wait for their deletion. */
export function listSamples(
  db: Db,
  at: At & { webhookId: string; reason: RejectionReason | null; since: Date },
): Promise<readonly SampleRow[]> {
  return db.many<SampleRow>(sql`
    select reason, at, source_ip, method, header_names, signature_forms, scheme, failed_step, detail, headers, body,
           body_size
      from refused_samples
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
       and at >= ${at.since}
       ${at.reason === null ? sql`` : sql`and reason = ${at.reason}`}
     order by at desc, reason
  `)
}

export async function deleteSamplesOf(db: Db, at: At & { webhookId: string }): Promise<void> {
  await db.run(sql`
    delete from refused_samples
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
  `)
}

/** Deletes samples of all workspaces from before a time, at most `limit`. Returns how many. */
export function deleteOldSamples(db: Db, at: { before: Date; limit: number }): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- upkeep deletes old samples of every workspace
  return db.run(sql`
    delete from refused_samples
     where ctid = any (array(
             select ctid
               from refused_samples
              where at < ${at.before}
              limit ${at.limit}
           ))
  `)
}
