import type { RejectionReason } from '@postroad/contract'
import type { Histogram } from '../../../../domain/workspace/latency-histogram.ts'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import { attemptSums, summed } from '../queries.ts'
import type { Piece } from '../spans.ts'

/** The outcomes of attempts that started in a time span. Attempts that are still `open` have no outcome yet. */
export type AttemptSums = {
  readonly succeeded: number
  readonly failed: number
  readonly interrupted: number
  readonly gave_up: number
  readonly open: number
  readonly response_ms: Histogram
  readonly delivery_ms: Histogram
}

export type ProjectSums = AttemptSums & {
  /** The index of the bucket from the start of the range. */
  readonly bucket: number
  readonly submissions: number
  readonly records: number
  readonly bytes: number
  readonly rejected: number
}

type InProjects = {
  readonly workspaceId: string
  readonly projectIds: readonly string[]
  readonly pieces: readonly Piece[]
}

/** The rows of the pieces of a range, in these projects. The few projects come first, so that each one is read along its key. */
const rowsIn = (
  { table, columns, only = sql`` }: { table: Sql; columns: Sql; only?: Sql },
  { workspaceId, projectIds, pieces }: InProjects,
): Sql => sql`
  select ${columns}, r.at, r.succeeded, r.failed, r.interrupted, r.gave_up, r.open, r.response_ms, r.delivery_ms
    from unnest(${projectIds}::uuid[]) as project (id)
   cross join unnest(
           ${pieces.map((piece) => piece.spanSeconds)}::int[],
           ${pieces.map((piece) => new Date(piece.from))}::timestamptz[],
           ${pieces.map((piece) => new Date(piece.to))}::timestamptz[]
         ) as piece (span_seconds, first, until)
   cross join lateral (
           select ${columns}, r.at, r.succeeded, r.failed, r.interrupted, r.gave_up, r.open, r.response_ms, r.delivery_ms
             from ${table} r
            where r.workspace_id = ${workspaceId}
              and r.project_id = project.id
              and r.span_seconds = piece.span_seconds
              and r.at >= piece.first
              and r.at < piece.until
              ${only}
           offset 0
         ) r
`

const OF_FOUND = { from: sql`found`, as: sql`json_agg` }

/** The sums of these projects together, bucket by bucket from `from` on. Empty buckets are left out. */
export function sumProjects(
  db: Db,
  at: InProjects & { readonly from: Date; readonly bucketSeconds: number },
): Promise<readonly ProjectSums[]> {
  const columns = sql`r.submissions, r.records, r.bytes, r.rejected`
  return db.many<ProjectSums>(sql`
    with found as materialized (
           select row.submissions, row.records, row.bytes, row.rejected, row.succeeded, row.failed, row.interrupted, row.gave_up, row.open,
                  row.response_ms, row.delivery_ms,
                  floor(extract(epoch from row.at - ${at.from}::timestamptz) / ${at.bucketSeconds}::int)::int as bucket
             from (${rowsIn({ table: sql`project_rollups`, columns }, at)}) row
         ),
         sums as (
           select bucket, sum(submissions)::bigint as submissions, sum(records)::bigint as records, sum(bytes)::bigint as bytes,
                  sum(rejected)::bigint as rejected, ${attemptSums}
             from found
            group by bucket
         ),
         response as (${summed(OF_FOUND, sql`bucket`, sql`response_ms`)}),
         delivery as (${summed(OF_FOUND, sql`bucket`, sql`delivery_ms`)})
    select bucket, submissions, records, bytes, rejected, succeeded, failed, interrupted, gave_up, open,
           coalesce(response_ms, '[]') as response_ms, coalesce(delivery_ms, '[]') as delivery_ms
      from sums
      left join response using (bucket)
      left join delivery using (bucket)
     order by bucket
  `)
}

export type ReasonSum = { readonly reason: RejectionReason; readonly count: number; readonly last_at: Date }

/** Rejected requests by their reason, with the latest minute or hour that has any; latest first. */
export function sumRejections(db: Db, at: InProjects): Promise<readonly ReasonSum[]> {
  return db.many<ReasonSum>(sql`
    select reason, sum(n::bigint)::bigint as count, max(found.at) as last_at
      from (${rowsIn({ table: sql`project_rollups`, columns: sql`r.rejected_by_reason` }, at)}) found,
           json_each_text(found.rejected_by_reason) as counted (reason, n)
     group by reason
     order by last_at desc, reason
  `)
}

export type DestinationSums = AttemptSums & { readonly project_id: string; readonly destination_id: string }

/** The sums of each destination of these projects; with `failing` only those with the most failures, with `destinationIds` only these. */
export function sumDestinations(
  db: Db,
  at: InProjects & { readonly failing: number | null; readonly destinationIds?: readonly string[] },
): Promise<readonly DestinationSums[]> {
  return db.many<DestinationSums>(sql`
    with found as materialized (${rowsIn({ table: sql`destination_rollups`, columns: sql`r.project_id, r.destination_id`, only: at.destinationIds === undefined ? sql`` : sql`and r.destination_id = any (${at.destinationIds}::uuid[])` }, at)}),
         sums as (
           select project_id, destination_id, ${attemptSums}
             from found
            group by project_id, destination_id
           ${at.failing === null ? sql`` : sql`having sum(failed) > 0 order by sum(failed) desc, destination_id limit ${at.failing}`}
         ),
         response as (${summed(OF_FOUND, sql`destination_id`, sql`response_ms`)}),
         delivery as (${summed(OF_FOUND, sql`destination_id`, sql`delivery_ms`)})
    select project_id, destination_id, succeeded, failed, interrupted, gave_up, open,
           coalesce(response_ms, '[]') as response_ms, coalesce(delivery_ms, '[]') as delivery_ms
      from sums
      left join response using (destination_id)
      left join delivery using (destination_id)
     order by failed desc, destination_id
  `)
}

export type DestinationBucket = {
  readonly bucket: number
  readonly succeeded: number
  readonly failed: number
  readonly interrupted: number
}

/** Attempts at one destination, bucket by bucket from `from` on. Empty buckets are left out. */
export function seriesOfDestination(
  db: Db,
  at: InProjects & { readonly from: Date; readonly bucketSeconds: number; readonly destinationId: string },
): Promise<readonly DestinationBucket[]> {
  return db.many<DestinationBucket>(sql`
    select floor(extract(epoch from found.at - ${at.from}::timestamptz) / ${at.bucketSeconds}::int)::int as bucket,
           sum(succeeded)::bigint as succeeded, sum(failed)::bigint as failed, sum(interrupted)::bigint as interrupted
      from (${rowsIn({ table: sql`destination_rollups`, columns: sql`r.destination_id`, only: sql`and r.destination_id = ${at.destinationId}` }, at)}) found
     group by bucket
     order by bucket
  `)
}

export type OutcomeSums = { readonly destination_id: string; readonly succeeded: number; readonly failed: number }

/** The outcomes at each destination of a project, without durations. */
export function sumOutcomes(
  db: Db,
  { workspaceId, projectId, pieces }: { workspaceId: string; projectId: string; pieces: readonly Piece[] },
): Promise<readonly OutcomeSums[]> {
  const at = { workspaceId, projectIds: [projectId], pieces }
  return db.many<OutcomeSums>(sql`
    select destination_id, sum(succeeded)::bigint as succeeded, sum(failed)::bigint as failed
      from (${rowsIn({ table: sql`destination_rollups`, columns: sql`r.destination_id` }, at)}) found
     group by destination_id
  `)
}

/** The first minute or hour of a project that is counted, along the key. */
export async function findFirstCounted(
  db: Db,
  at: { workspaceId: string; projectId: string },
): Promise<Date | undefined> {
  const first = (span: number): Sql => sql`
    (select r.at
       from project_rollups r
      where r.workspace_id = ${at.workspaceId}
        and r.project_id = ${at.projectId}
        and r.span_seconds = ${span}
      order by r.at
      limit 1)
  `
  const { first_at } = await db.one<{ first_at: Date | null }>(sql`
    select case when minute <= hour + interval '1 hour' or hour is null then minute else hour end as first_at
      from (select ${first(60)} as minute, ${first(3_600)} as hour) found
  `)
  return first_at ?? undefined
}
