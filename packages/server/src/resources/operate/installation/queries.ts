import { sql, type Db, type Sql } from '../../../platform/db.ts'

const BOOTSTRAP_LOCK = 4_680_002

/** Allows one bootstrap at a time, also beside a running server. The lock ends with the transaction. */
export async function lockBootstrap(db: Db): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock(${BOOTSTRAP_LOCK})`)
}

async function count(db: Db, query: Sql): Promise<number> {
  return (await db.one<{ found: number }>(query)).found
}

/** `offset 0` makes PostgreSQL look each row up by its key. Otherwise the plan compares the two tables row by row, for hours when they are large. */
export function countDeliveriesWithoutRecord(db: Db): Promise<number> {
  return count(
    db,
    sql`
    select count(*) as found
      from deliveries d
     where not coalesce((
             select true
               from records r
              where r.workspace_id = d.workspace_id
                and r.project_id = d.project_id
                and r.id = d.record_id
             offset 0
           ), false)
  `,
  )
}

/** Uses `offset 0` for the same reason. */
export function countRecordsWithoutSubmission(db: Db): Promise<number> {
  return count(
    db,
    sql`
    select count(*) as found
      from records r
     where not coalesce((
             select r.id = any (s.record_ids)
               from submissions s
              where s.workspace_id = r.workspace_id
                and s.project_id = r.project_id
                and s.id = r.submission_id
             offset 0
           ), false)
  `,
  )
}

export function countOrphanLanes(db: Db): Promise<number> {
  return count(
    db,
    sql`
    select count(*) as found
      from destinations t
     where not exists (
             select 1
               from lanes l
              where l.workspace_id = t.workspace_id
                and l.destination_id = t.id
           )
  `,
  )
}

export function countSendingWithoutAttempt(db: Db): Promise<number> {
  return count(
    db,
    sql`
    select count(*) as found
      from deliveries d
     where d.state = 'sending'
       and 1 <> (
             select count(*)
               from delivery_attempts a
              where a.workspace_id = d.workspace_id
                and a.delivery_id = d.id
                and a.outcome is null
           )
  `,
  )
}

/** Counts sends in lanes whose owner's lease ended more than 30 s ago, so it can run beside a running server. */
export function countSendingWithoutSender(db: Db, now: Date): Promise<number> {
  return count(
    db,
    sql`
    select count(*) as found
      from deliveries d
      join lanes l on l.workspace_id = d.workspace_id and l.destination_id = d.destination_id
      left join lane_owners o on o.owner = l.owner
     where d.state = 'sending'
       and (o.owner is null or o.lease_until < ${new Date(now.getTime() - 30_000)})
       and d.updated_at < ${new Date(now.getTime() - 30_000)}
  `,
  )
}

export function countOpenAttemptsNotSending(db: Db): Promise<number> {
  return count(
    db,
    sql`
    select count(*) as found
      from delivery_attempts a
     where a.outcome is null
       and not exists (
             select 1
               from deliveries d
              where d.workspace_id = a.workspace_id
                and d.id = a.delivery_id
                and d.state = 'sending'
           )
  `,
  )
}

export function countWrongAttemptCounts(db: Db): Promise<number> {
  return count(
    db,
    sql`
    select count(*) as found
      from deliveries d
      left join (
             select workspace_id, delivery_id, count(*) as rows
               from delivery_attempts
              group by workspace_id, delivery_id
           ) a
        on a.workspace_id = d.workspace_id
       and a.delivery_id = d.id
     where d.attempt_count <> coalesce(a.rows, 0)
  `,
  )
}

export function countDueOfPausedDestinations(db: Db, now: Date): Promise<number> {
  return count(
    db,
    sql`
    select count(*) as found
      from deliveries d
      join destinations t on t.workspace_id = d.workspace_id and t.id = d.destination_id
     where d.next_attempt_at is not null
       and d.updated_at < ${new Date(now.getTime() - 30_000)}
       and not t.enabled
  `,
  )
}

type Below = {
  readonly month: string
  readonly names: readonly string[]
  readonly limits: readonly (number | null)[]
  readonly otherwise: number | null
  readonly before: Date
}

/**
 * Deliveries that have waited since before a time for the allowance of a plan that has room in a month (null:
 * unlimited; `otherwise`: unnamed plans).
 */
export function countWaitingBelow(db: Db, at: Below): Promise<number> {
  return count(
    db,
    sql`
    select count(*) as found
      from deliveries d
      join workspaces w on w.id = d.workspace_id and not w.halted
      join projects p on p.workspace_id = d.workspace_id and p.id = d.project_id and p.deleted_at is null
      left join unnest(${at.names}::text[], ${at.limits}::bigint[]) as plan (name, most) on plan.name = w.plan
      left join monthly_usage used on used.workspace_id = d.workspace_id and used.month = ${at.month}::date
     where d.pause_reason = 'allowance_used'
       and d.updated_at < ${at.before}
       and coalesce(coalesce(used.deliveries, 0) < case when plan.name is null then ${at.otherwise}::bigint else plan.most end, true)
  `,
  )
}

export type StuckRow = {
  readonly deliveries: number
  readonly destinations: number
  readonly oldest_due_at: Date | null
  /** Processes with a lease that has not expired. */
  readonly senders: number
}

/**
 * Deliveries that have been due since before a time, in lanes that have started nothing since then although nothing makes them
 * wait: the destination is on, its breaker and its rate allow it, and no earlier delivery has their key. The time must be
 * longer ago than the longest request, because then even a lane whose slots are all taken has started something since.
 */
// oxlint-disable-next-line max-lines-per-function -- one statement is one screen of SQL
export function findStuck(db: Db, at: { readonly dueBefore: Date; readonly now: Date }): Promise<StuckRow> {
  return db.one<StuckRow>(sql`
    with begun as (
      select workspace_id, destination_id, max(started_at) as last_at
        from delivery_attempts
       where started_at > ${new Date(at.dueBefore.getTime() - RATE_PERIOD_MS_MAX)}
       group by workspace_id, destination_id
    )
    select count(*)::int as deliveries,
           count(distinct d.destination_id)::int as destinations,
           min(d.next_attempt_at) as oldest_due_at,
           (select count(*)::int from lane_owners where lease_until > ${at.now}) as senders
      from deliveries d
      join lanes l on l.workspace_id = d.workspace_id and l.destination_id = d.destination_id
      join workspaces w on w.id = d.workspace_id and not w.halted
      join destinations t on t.workspace_id = d.workspace_id and t.id = d.destination_id and t.enabled
      join projects p on p.workspace_id = t.workspace_id and p.id = t.project_id and p.deleted_at is null
      left join begun on begun.workspace_id = d.workspace_id and begun.destination_id = d.destination_id
     where d.next_attempt_at <= ${at.dueBefore}
       and coalesce(l.waits_until <= ${at.dueBefore}, true)
       and coalesce(begun.last_at <= ${at.dueBefore}::timestamptz - case t.rate_per when 'hour' then interval '1 hour'
                                                                           when 'minute' then interval '1 minute'
                                                                           else interval '1 second'
                                                         end, true)
       and not (d.order_key is not null and exists (
             select 1
               from deliveries earlier
              where earlier.workspace_id = d.workspace_id
                and earlier.destination_id = d.destination_id
                and earlier.order_key = d.order_key
                and earlier.order_seq < d.order_seq
                and earlier.state in ('pending', 'sending', 'retrying', 'paused')
           ))
  `)
}

/** A rate limit per hour may hold the next attempt back for this long. */
const RATE_PERIOD_MS_MAX = 3_600_000
