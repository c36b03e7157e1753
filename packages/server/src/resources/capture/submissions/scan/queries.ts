import type { BodyReading } from '../../../../domain/capture/body/decode-body.ts'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import type { Repeats } from '../../../../domain/capture/repeated.ts'
import { verifiedScheme, type SubmissionRow } from '../queries.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type ScannedSubmissionRow = SubmissionRow &
  Repeats & {
    /** Size of the body in bytes. */
    readonly bytes: number
  }

/** The next submissions for one piece of a search, newest first, including filed ones. */
export function scanSubmissions(
  db: Db,
  at: At & { after: string | null; before: string | null; limit: number },
): Promise<readonly ScannedSubmissionRow[]> {
  return db.many<ScannedSubmissionRow>(sql`
    select id, webhook_id, ingest_key_id, received_at, source_ip, content_type, body_size, record_ids, origin_kind, origin_id,
           ${verifiedScheme(sql`s`)} as verified_scheme, duplicates, key_reused, body_size as bytes
      from submissions s
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       ${at.after === null ? sql`` : sql`and id > ${at.after}`}
       ${at.before === null ? sql`` : sql`and id < ${at.before}`}
     order by id desc
     limit ${at.limit}
  `)
}

export type ScannedBodyRow = {
  readonly id: string
  readonly headers: Record<string, string>
  readonly query: string | null
  readonly path: string | null
  readonly is_sent: boolean
  readonly body: string | null
  readonly body_bytes: Buffer | null
  readonly reading: BodyReading | null
}

export function listBodies(db: Db, at: At & { ids: readonly string[] }): Promise<readonly ScannedBodyRow[]> {
  return db.many<ScannedBodyRow>(sql`
    select id, headers, query, path, origin_kind is null as is_sent, body, body_bytes,
           ${bodyReading({ ...at, webhookId: sql`webhook_id` })} as reading
      from submissions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = any (${at.ids}::uuid[])
  `)
}

/** How the endpoint of a submission reads bodies now, as JSON; null: as the contract says. */
function bodyReading(of: At & { webhookId: Sql }): Sql {
  return sql`
    (select json_build_object('as', w.body_as, 'byLine', w.split::text = '"lines"')
       from webhooks w
      where w.workspace_id = ${of.workspaceId}
        and w.project_id = ${of.projectId}
        and w.id = ${of.webhookId}
        and (w.body_as <> 'contract' or w.split::text = '"lines"'))
  `
}
