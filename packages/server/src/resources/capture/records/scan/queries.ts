import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import type { Repeats } from '../../../../domain/capture/repeated.ts'
import { inStates } from '../../../delivery/deliveries/index.ts'
import type { HeldFilter } from '../../../delivery/delivery-holds/index.ts'
import { headerTitle, verifiedScheme, type OriginColumns, type VerifiedColumns } from '../../submissions/index.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type ScannedRecordRow = OriginColumns &
  VerifiedColumns &
  Repeats & {
    readonly id: string
    readonly dataset: string
    readonly submission_id: string
    readonly received_at: Date
    readonly webhook_id: string | null
    readonly header_title: string | null
    /** Size of the payload in bytes. */
    readonly bytes: number
    /** Whether the record has a delivery that matches; true when none is required. */
    readonly has_delivery: boolean
  }

/** The conditions on one delivery of a record; null: no condition. */
export type WantedDelivery = {
  readonly states: readonly string[] | null
  /** Or a delivery that waits in these lanes. */
  readonly stuck: HeldFilter | null
  readonly destinationId: string | null
}

function hasDelivery(at: At, wanted: WantedDelivery | null): Sql {
  if (wanted === null) return sql`true`
  return sql`exists (
             select 1
               from deliveries d
              where d.workspace_id = ${at.workspaceId}
                and d.project_id = ${at.projectId}
                and d.record_id = r.id
                and ${inStates(at, wanted)}
                ${wanted.destinationId === null ? sql`` : sql`and d.destination_id = ${wanted.destinationId}`}
           )`
}

/** The next records for one piece of a search, newest first. Apart from the dataset they need not match. */
export function scanRecords(
  db: Db,
  at: At & {
    dataset: string | null
    delivery: WantedDelivery | null
    after: string | null
    before: string | null
    /** Only these records; absent: all. */
    ids?: readonly string[]
    limit: number
  },
): Promise<readonly ScannedRecordRow[]> {
  return db.many<ScannedRecordRow>(sql`
    select r.id, r.dataset, r.submission_id, r.received_at, s.webhook_id, s.origin_kind, s.origin_id, s.header_title,
           s.verified_scheme, s.duplicates, s.key_reused, coalesce(octet_length(r.data), s.body_size) as bytes,
           ${hasDelivery(at, at.delivery)} as has_delivery
      from (
             select id, dataset, submission_id, received_at, data
               from records
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                ${at.ids === undefined ? sql`` : sql`and id = any (${at.ids}::uuid[])`}
                ${at.dataset === null ? sql`` : sql`and dataset = ${at.dataset}`}
                ${at.after === null ? sql`` : sql`and id > ${at.after}`}
                ${at.before === null ? sql`` : sql`and id < ${at.before}`}
              order by id desc
              limit ${at.limit}
           ) r
     cross join lateral (
             select s.webhook_id, s.origin_kind, s.origin_id, s.body_size, s.duplicates, s.key_reused,
                    ${headerTitle} as header_title, ${verifiedScheme(sql`s`)} as verified_scheme
               from submissions s
              where s.workspace_id = ${at.workspaceId}
                and s.project_id = ${at.projectId}
                and s.id = r.submission_id
             offset 0
           ) s
     order by r.id desc
  `)
}
