import type { Need, ReceivedRequest } from '../../../domain/delivery/delivery-body.ts'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/** Records `r` with their payloads. If the payload is the whole body, only the submission stores it. */
const withPayload: Sql = sql`
      from records r
      join submissions s
        on s.workspace_id = r.workspace_id
       and s.project_id = r.project_id
       and s.id = r.submission_id
`
const payload: Sql = sql`coalesce(r.data, s.body) as data`

/** The payloads of these records, as text. */
export function listPayloads(
  db: Db,
  at: At & { recordIds: readonly string[] },
): Promise<readonly { id: string; data: string }[]> {
  return db.many<{ id: string; data: string }>(sql`
    select r.id, ${payload}
     ${withPayload}
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = any (${at.recordIds}::uuid[])
  `)
}

export type ExplainedRow = {
  readonly id: string
  readonly dataset: string
  readonly hops: number
  readonly data: string
}

/** The parts of these records that a routing decision follows from. */
export function listExplained(
  db: Db,
  at: At & { readonly recordIds: readonly string[] },
): Promise<readonly ExplainedRow[]> {
  return db.many<ExplainedRow>(sql`
    select r.id, r.dataset, r.hops, ${payload}
     ${withPayload}
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = any (${at.recordIds}::uuid[])
  `)
}

export type DocumentRow = {
  readonly id: string
  readonly data: string
  readonly headers: string | null
  readonly query: string | null
  readonly path: string | null
  readonly is_sent: boolean
}

/**
 * The payloads of these records; with `request`: also the headers of their requests, as the text of a JSON object, and their query
 * strings.
 */
export function listDocuments(
  db: Db,
  at: At & { recordIds: readonly string[]; request: boolean },
): Promise<readonly DocumentRow[]> {
  return db.many<DocumentRow>(sql`
    select r.id, ${payload}, s.origin_kind is null as is_sent,
           ${at.request ? sql`s.headers::text as headers, s.query, s.path` : sql`null as headers, null as query, null as path`}
     ${withPayload}
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = any (${at.recordIds}::uuid[])
  `)
}

export type PayloadRow = {
  readonly id: string
  readonly dataset: string
  readonly received_at: Date
  readonly data: string
}

/** A record in the form in which it is delivered. */
export function findPayload(db: Db, at: At & { id: string }): Promise<PayloadRow | undefined> {
  return db.maybe<PayloadRow>(sql`
    select r.id, r.dataset, r.received_at, ${payload}
     ${withPayload}
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = ${at.id}
  `)
}

/** The request behind a record, as far as it is needed; undefined when no sender sent the event, or the record is not stored. */
export async function findReceived(
  db: Db,
  { needs, ...at }: At & { recordId: string; needs: Need },
): Promise<ReceivedRequest | undefined> {
  if (needs === 'nothing') return undefined
  type Row = Omit<ReceivedRequest, 'body'> & {
    readonly body: string | null
    readonly body_bytes: Buffer | null
  }
  const row = await db.maybe<Row>(sql`
    select r.data is null or r.is_whole is true as is_whole, s.headers, s.query, s.path,
           ${needs === 'request' ? sql`null as body, null as body_bytes` : sql`s.body, s.body_bytes`}
     ${withPayload}
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = ${at.recordId}
       and s.origin_kind is null
  `)
  return row === undefined ? undefined : { ...row, body: row.body_bytes ?? row.body ?? '' }
}
