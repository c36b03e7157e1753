import { SYSTEM_DATASET } from '@postroad/contract'
import { BOUNDS_MS } from '../../../domain/workspace/latency-histogram.ts'
import { sql, texts, type Db, type Sql } from '../../../platform/db.ts'
import { uuidv7Floor, uuidv7Ms } from '../../../platform/ids.ts'
import type { Attempts, AttemptsGroup, DestinationRow, ProjectRow, RejectionsGroup, SubmissionsGroup } from './fold.ts'

const ROLLUPS_LOCK = 4_680_027

/** Lets one process count at a time; false while another one does. The lock ends with the transaction. */
export async function tryLockRollups(db: Db): Promise<boolean> {
  const { held } = await db.one<{ held: boolean }>(sql`select pg_try_advisory_xact_lock(${ROLLUPS_LOCK}) as held`)
  return held
}

export function findProgress(db: Db): Promise<{ readonly closed_until: Date; readonly rolled_at: Date } | undefined> {
  return db.maybe<{ closed_until: Date; rolled_at: Date }>(sql`select closed_until, rolled_at from rollup_progress`)
}

/** Never moves backwards, because a slower process may write its older progress later. */
export async function putProgress(db: Db, at: { closedUntil: Date; rolledAt: Date }): Promise<void> {
  await db.run(sql`
    insert into rollup_progress as known (closed_until, rolled_at)
    values (${at.closedUntil}, ${at.rolledAt})
    on conflict (single) do update
       set closed_until = greatest(known.closed_until, excluded.closed_until),
           rolled_at = greatest(known.rolled_at, excluded.rolled_at)
  `)
}

/** The creation of the first project, before which there can be no events. */
export async function firstMoment(db: Db): Promise<Date | undefined> {
  // oxlint-disable-next-line house/tenant-statement -- the writer counts every workspace
  const { at } = await db.one<{ at: Date | null }>(sql`select min(created_at) as at from projects`)
  return at ?? undefined
}

/** The first counted event at this time or later. Uses the index of each project. */
export async function nextMomentWithData(db: Db, { from }: { from: number }): Promise<number | undefined> {
  const first = uuidv7Floor(from)
  const { id } = await db.one<{ id: string | null }>(sql`
    select min(least(submission.id::text, attempt.id::text, rejection.id::text)) as id
      from projects p
      left join lateral (
             select id from submissions s where s.workspace_id = p.workspace_id and s.project_id = p.id and s.id >= ${first} order by id limit 1
           ) submission on true
      left join lateral (
             select id from delivery_attempts a where a.workspace_id = p.workspace_id and a.id >= ${first} order by id limit 1
           ) attempt on true
      left join lateral (
             select id from rejections r where r.workspace_id = p.workspace_id and r.project_id = p.id and r.id >= ${first} order by id limit 1
           ) rejection on true
  `)
  return id === null ? undefined : uuidv7Ms(id)
}

type Range = { readonly from: number; readonly to: number }

const msOf = (id: Sql): Sql => sql`('x' || translate(left(${id}::text, 13), '-', ''))::bit(48)::bigint`
const placeOf = (ms: Sql): Sql => sql`width_bucket(${ms}, ${BOUNDS_MS}::bigint[])`

/**
 * Attempts that started in a range, workspace by workspace along the key. `offset 0` preserves that order: a plan that joins the other way
 * would read the whole day. The id of a delivery contains the time of its event.
 */
export function countAttempts(db: Db, { from, to }: Range): Promise<readonly AttemptsGroup[]> {
  return db.many<AttemptsGroup>(sql`
    select w.id as workspace_id, a.project_id, a.destination_id, a.outcome, a.gave_up, a.gave_up and a.is_own as is_own,
           ${placeOf(sql`a.duration_ms`)} as response_place,
           ${placeOf(sql`a.delivery_ms`)} as delivery_place,
           count(*) as count
      from workspaces w
     cross join lateral (
             select project_id, destination_id, outcome,
                    outcome = 'failed' and next_attempt_at is null and coalesce((
                      select d.state = 'failed'
                        from deliveries d
                       where d.workspace_id = a.workspace_id
                         and d.project_id = a.project_id
                         and d.id = a.delivery_id
                    ), false) as gave_up,
                    outcome = 'failed' and next_attempt_at is null and coalesce((
                      select e.dataset = ${SYSTEM_DATASET}
                        from deliveries d
                        join records e on e.workspace_id = d.workspace_id and e.project_id = d.project_id and e.id = d.record_id
                       where d.workspace_id = a.workspace_id
                         and d.project_id = a.project_id
                         and d.id = a.delivery_id
                    ), false) as is_own,
                    duration_ms::bigint as duration_ms,
                    case when outcome = 'succeeded' and trigger not in ('replay', 'manual')
                         then greatest(0, ${msOf(sql`a.id`)} - ${msOf(sql`a.delivery_id`)} + coalesce(duration_ms, 0))
                    end as delivery_ms
               from delivery_attempts a
              where a.workspace_id = w.id
                and a.id >= ${uuidv7Floor(from)}
                and a.id < ${uuidv7Floor(to)}
             offset 0
           ) a
     group by 1, 2, 3, 4, 5, 6, 7, 8
  `)
}

export function countSubmissions(db: Db, { from, to }: Range): Promise<readonly SubmissionsGroup[]> {
  return db.many<SubmissionsGroup>(sql`
    select p.workspace_id, p.id as project_id, s.submissions, s.records, s.bytes
      from projects p
     cross join lateral (
             select count(*) as submissions, coalesce(sum(cardinality(record_ids)), 0)::bigint as records, coalesce(sum(body_size), 0)::bigint as bytes
               from submissions s
              where s.workspace_id = p.workspace_id
                and s.project_id = p.id
                and s.id >= ${uuidv7Floor(from)}
                and s.id < ${uuidv7Floor(to)}
             offset 0
           ) s
     where s.submissions > 0
  `)
}

export function countRejections(db: Db, { from, to }: Range): Promise<readonly RejectionsGroup[]> {
  return db.many<RejectionsGroup>(sql`
    select p.workspace_id, p.id as project_id, r.reason, sum(r.count)::bigint as count
      from projects p
     cross join lateral (
             select reason, count
               from rejections r
              where r.workspace_id = p.workspace_id
                and r.project_id = p.id
                and r.id >= ${uuidv7Floor(from)}
                and r.id < ${uuidv7Floor(to)}
             offset 0
           ) r
     group by 1, 2, 3
  `)
}

const histograms = (rows: readonly (readonly number[])[]): Sql => texts(rows.map((row) => `{${row.join(',')}}`))

/** The columns that rows of projects and of destinations share, as parallel arrays. */
const attemptArrays = (rows: readonly Attempts[]): Sql => sql`
  unnest(${rows.map((row) => row.succeeded)}::bigint[]) as succeeded,
  unnest(${rows.map((row) => row.failed)}::bigint[]) as failed,
  unnest(${rows.map((row) => row.interrupted)}::bigint[]) as interrupted,
  unnest(${rows.map((row) => row.gave_up)}::bigint[]) as gave_up,
  unnest(${rows.map((row) => row.open)}::bigint[]) as open,
  unnest(${histograms(rows.map((row) => row.response_ms))})::bigint[] as response_ms,
  unnest(${histograms(rows.map((row) => row.delivery_ms))})::bigint[] as delivery_ms
`
const attemptColumns: Sql = sql`succeeded, failed, interrupted, gave_up, open, response_ms, delivery_ms`
const attemptUpdates: Sql = sql`
  succeeded = excluded.succeeded, failed = excluded.failed, interrupted = excluded.interrupted, gave_up = excluded.gave_up,
  open = excluded.open, response_ms = excluded.response_ms, delivery_ms = excluded.delivery_ms
`

/** Replaces the counted minutes of destinations. */
export async function putDestinations(
  db: Db,
  { at, rows }: { at: Date; rows: readonly DestinationRow[] },
): Promise<void> {
  await db.run(sql`
    insert into destination_rollups (workspace_id, project_id, destination_id, span_seconds, at, gave_up_own, ${attemptColumns})
    select workspace_id, project_id, destination_id, 60, ${at}::timestamptz, gave_up_own, ${attemptColumns}
      from (
             select unnest(${rows.map((row) => row.workspace_id)}::uuid[]) as workspace_id,
                    unnest(${rows.map((row) => row.project_id)}::uuid[]) as project_id,
                    unnest(${rows.map((row) => row.destination_id)}::uuid[]) as destination_id,
                    unnest(${rows.map((row) => row.gave_up_own)}::bigint[]) as gave_up_own,
                    ${attemptArrays(rows)}
           ) row
    on conflict (workspace_id, project_id, destination_id, span_seconds, at) do update
       set gave_up_own = excluded.gave_up_own, ${attemptUpdates}
  `)
}

/** Replaces the counted minutes of projects. */
export async function putProjects(db: Db, { at, rows }: { at: Date; rows: readonly ProjectRow[] }): Promise<void> {
  await db.run(sql`
    insert into project_rollups (workspace_id, project_id, span_seconds, at, submissions, records, bytes, rejected, rejected_by_reason, ${attemptColumns})
    select workspace_id, project_id, 60, ${at}::timestamptz, submissions, records, bytes, rejected, rejected_by_reason::json, ${attemptColumns}
      from (
             select unnest(${rows.map((row) => row.workspace_id)}::uuid[]) as workspace_id,
                    unnest(${rows.map((row) => row.project_id)}::uuid[]) as project_id,
                    unnest(${rows.map((row) => row.submissions)}::bigint[]) as submissions,
                    unnest(${rows.map((row) => row.records)}::bigint[]) as records,
                    unnest(${rows.map((row) => row.bytes)}::bigint[]) as bytes,
                    unnest(${rows.map((row) => row.rejected)}::bigint[]) as rejected,
                    unnest(${texts(rows.map((row) => JSON.stringify(row.rejected_by_reason)))}) as rejected_by_reason,
                    ${attemptArrays(rows)}
           ) row
    on conflict (workspace_id, project_id, span_seconds, at) do update
       set submissions = excluded.submissions, records = excluded.records, bytes = excluded.bytes, rejected = excluded.rejected,
           rejected_by_reason = excluded.rejected_by_reason, ${attemptUpdates}
  `)
}

type Hours = { readonly from: Date; readonly to: Date }

const hourOf = sql`to_timestamp(floor(extract(epoch from at) / 3600) * 3600)`
/** The outcomes of attempts, summed over the rows of a group. */
export const attemptSums: Sql = sql`
  sum(succeeded)::bigint as succeeded, sum(failed)::bigint as failed, sum(interrupted)::bigint as interrupted,
  sum(gave_up)::bigint as gave_up, sum(open)::bigint as open
`
/** Adds up a histogram of the rows in `from`, place by place, for each `key`; `as` builds one histogram from the sums. */
export const summed = ({ from, as }: { readonly from: Sql; readonly as: Sql }, key: Sql, histogram: Sql): Sql => sql`
  select ${key}, ${as}(n order by place) as ${histogram}
    from (select ${key}, place, sum(n)::bigint as n from ${from}, unnest(${histogram}) with ordinality as counted (n, place) group by ${key}, place) added
   group by ${key}
`
const OF_MINUTES = { from: sql`minutes`, as: sql`array_agg` }

const minutesOf = ({ table, columns }: { table: Sql; columns: Sql }, { from, to }: Hours): Sql => sql`
  select ${columns}, ${attemptColumns}, ${hourOf} as hour
    from projects p
   cross join lateral (
           select ${columns}, at, ${attemptColumns}
             from ${table} r
            where r.workspace_id = p.workspace_id
              and r.project_id = p.id
              and r.span_seconds = 60
              and r.at >= ${from}
              and r.at < ${to}
           offset 0
         ) r
`

/** The hours of destinations, summed from their minutes. */
export async function putDestinationHours(db: Db, hours: Hours): Promise<void> {
  const key = sql`workspace_id, project_id, destination_id, hour`
  await db.run(sql`
    with minutes as materialized (${minutesOf({ table: sql`destination_rollups`, columns: sql`r.workspace_id, r.project_id, r.destination_id` }, hours)}),
         sums as (select ${key}, ${attemptSums} from minutes group by ${key}),
         response as (${summed(OF_MINUTES, key, sql`response_ms`)}),
         delivery as (${summed(OF_MINUTES, key, sql`delivery_ms`)})
    insert into destination_rollups (workspace_id, project_id, destination_id, span_seconds, at, ${attemptColumns})
    select workspace_id, project_id, destination_id, 3600, hour, succeeded, failed, interrupted, gave_up, open,
           coalesce(response_ms, '{}'), coalesce(delivery_ms, '{}')
      from sums
      left join response using (${key})
      left join delivery using (${key})
    on conflict (workspace_id, project_id, destination_id, span_seconds, at) do update
       set ${attemptUpdates}
  `)
}

/** The hours of projects, summed from their minutes. */
export async function putProjectHours(db: Db, hours: Hours): Promise<void> {
  const key = sql`workspace_id, project_id, hour`
  await db.run(sql`
    with minutes as materialized (${minutesOf({ table: sql`project_rollups`, columns: sql`r.workspace_id, r.project_id, r.submissions, r.records, r.bytes, r.rejected, r.rejected_by_reason` }, hours)}),
         sums as (
           select ${key}, sum(submissions)::bigint as submissions, sum(records)::bigint as records, sum(bytes)::bigint as bytes,
                  sum(rejected)::bigint as rejected, ${attemptSums}
             from minutes
            group by ${key}
         ),
         reasons as (
           select ${key}, json_object_agg(reason, n) as rejected_by_reason
             from (select ${key}, reason, sum(n::bigint) as n from minutes, json_each_text(rejected_by_reason) as counted (reason, n) group by ${key}, reason) added
            group by ${key}
         ),
         response as (${summed(OF_MINUTES, key, sql`response_ms`)}),
         delivery as (${summed(OF_MINUTES, key, sql`delivery_ms`)})
    insert into project_rollups (workspace_id, project_id, span_seconds, at, submissions, records, bytes, rejected, rejected_by_reason, ${attemptColumns})
    select workspace_id, project_id, 3600, hour, submissions, records, bytes, rejected, coalesce(rejected_by_reason, '{}'),
           succeeded, failed, interrupted, gave_up, open, coalesce(response_ms, '{}'), coalesce(delivery_ms, '{}')
      from sums
      left join reasons using (${key})
      left join response using (${key})
      left join delivery using (${key})
    on conflict (workspace_id, project_id, span_seconds, at) do update
       set submissions = excluded.submissions, records = excluded.records, bytes = excluded.bytes, rejected = excluded.rejected,
           rejected_by_reason = excluded.rejected_by_reason, ${attemptUpdates}
  `)
}

/** Minutes before a time with attempts that were still open at their count, oldest first. */
export function listOpenMinutes(
  db: Db,
  at: { before: Date; limit: number },
): Promise<readonly { readonly minute: Date }[]> {
  // oxlint-disable-next-line house/tenant-statement -- the writer counts every workspace
  return db.many<{ minute: Date }>(sql`
    select distinct at as minute
      from project_rollups
     where open > 0
       and span_seconds = 60
       and at < ${at.before}
     order by at
     limit ${at.limit}
  `)
}

/** Deletes minutes and hours from before these times, at most `limit` of each. Returns how many rows. */
export async function deleteOldRollups(
  db: Db,
  at: { minutesBefore: Date; hoursBefore: Date; limit: number },
): Promise<number> {
  const projects = await deleteOld(db, sql`project_rollups`, at)
  const destinations = await deleteOld(db, sql`destination_rollups`, at)
  return projects + destinations + (await deleteOld(db, sql`flow_rollups`, at))
}

function deleteOld(db: Db, table: Sql, at: { minutesBefore: Date; hoursBefore: Date; limit: number }): Promise<number> {
  return db.run(sql`
    delete from ${table}
     where ctid = any (array(
             select old.ctid
               from projects p
              cross join (values (60, ${at.minutesBefore}::timestamptz), (3600, ${at.hoursBefore}::timestamptz)) as kept (span_seconds, since)
              cross join lateral (
                      select r.ctid
                        from ${table} r
                       where r.workspace_id = p.workspace_id
                         and r.project_id = p.id
                         and r.span_seconds = kept.span_seconds
                         and r.at < kept.since
                       limit ${at.limit}
                    ) old
              limit ${at.limit}
           ))
  `)
}
