import type { RatePer } from '../../../../domain/delivery/rate-window.ts'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import { isOfDays, recentDays } from '../../../../platform/partitions.ts'
import type { HeldAt } from '../queries.ts'

/** Reads of the work of lanes. No statement here changes a row. */

/** `lost`: another process owns the lane, or its destination is gone. The other columns then mean nothing. */
export type LaneReadRow = {
  readonly ordinal: number
  readonly status: 'held' | 'paused' | 'lost'
  readonly max_in_flight: number
  readonly schedule_seconds: readonly number[] | null
  readonly timeout_ms: number
  readonly rate_count: number | null
  readonly rate_per: RatePer | null
  readonly breaker_resets: number
  readonly probes_asked: number
  readonly ordered: boolean
  readonly plan: string
  readonly due: readonly string[]
  readonly next_due_in_ms: number | null
}

/** `heads`: for a lane with an order, only the first outstanding delivery of each key. */
export type ReadKind = 'all' | 'recent' | 'heads'
type ReadAt = { readonly exclude: readonly string[]; readonly kind: ReadKind; readonly now: Date }

/**
 * Returns the due deliveries of lanes: first attempts before retries, oldest first. `ordinal` counts the requested lanes from
 * 1. `recent` leaves out deliveries from before yesterday, so that the cost of an event does not grow with the number of
 * retained days.
 */
export function readLanes(
  db: Db,
  { lanes, ...at }: ReadAt & { lanes: readonly (HeldAt & { limit: number })[] },
): Promise<readonly LaneReadRow[]> {
  return db.many<LaneReadRow>(sql`
    select asked.ordinal::int as ordinal,
           case when l.fence is distinct from asked.fence or t.id is null then 'lost'
                when w.halted or not t.enabled or p.deleted_at is not null then 'paused'
                else 'held'
           end as status,
           t.max_in_flight, t.schedule_seconds, t.timeout_ms, t.rate_count, t.rate_per, l.breaker_resets, l.probes_asked, l.ordered, w.plan, due.ids as due,
           (extract(epoch from later.at - ${at.now}::timestamptz) * 1000)::float8 as next_due_in_ms
      from unnest(
             ${lanes.map((lane) => lane.workspaceId)}::uuid[],
             ${lanes.map((lane) => lane.destinationId)}::uuid[],
             ${lanes.map((lane) => lane.fence)}::bigint[],
             ${lanes.map((lane) => lane.limit)}::int[]
           ) with ordinality as asked (workspace_id, destination_id, fence, most, ordinal)
      left join lanes l using (workspace_id, destination_id)
      left join destinations t on t.workspace_id = asked.workspace_id and t.id = asked.destination_id
      left join projects p on p.workspace_id = t.workspace_id and p.id = t.project_id
      left join workspaces w on w.id = asked.workspace_id
     ${at.kind === 'heads' ? headsAt(at) : dueAt(at)}
  `)
}

/** The due deliveries of each requested lane, and the time when its next delivery falls due. */
const dueAt = (at: ReadAt): Sql => {
  const ofDays = at.kind === 'recent' ? sql`and ${isOfDays('d.id', recentDays(at.now))}` : sql``
  return sql`
     cross join lateral (
             select coalesce(json_agg(id order by state, next_attempt_at, id), '[]') as ids
               from (
                      select ready.id, ready.state, ready.next_attempt_at
                        from (values ('pending'), ('retrying')) as waiting (state)
                       cross join lateral (
                               select d.id, d.state, d.next_attempt_at
                                 from deliveries d
                                where d.workspace_id = asked.workspace_id
                                  and d.destination_id = asked.destination_id
                                  and d.state = waiting.state
                                  ${ofDays}
                                  and d.next_attempt_at <= ${at.now}
                                  and d.id not in (select unnest(${at.exclude}::uuid[]))
                                order by d.next_attempt_at, d.id
                                limit asked.most
                             ) ready
                       order by ready.state, ready.next_attempt_at, ready.id
                       limit asked.most
                    ) chosen
           ) due
     cross join lateral (
             select min(next.next_attempt_at) as at
               from (values ('pending'), ('retrying')) as waiting (state)
              cross join lateral (
                      select d.next_attempt_at
                        from deliveries d
                       where d.workspace_id = asked.workspace_id
                         and d.destination_id = asked.destination_id
                         and d.state = waiting.state
                         ${ofDays}
                         and d.next_attempt_at > ${at.now}
                       order by d.next_attempt_at
                       limit 1
                    ) next
           ) later
`
}

/** In these states a delivery blocks later deliveries with the same key. */
const OUTSTANDING: Sql = sql`('pending', 'sending', 'retrying', 'paused')`

/**
 * Like `dueAt`, for a lane with an order. It walks the index of outstanding keys from key to key and wraps around at
 * the end. Each read starts at a random key, so a read is bounded and every key is reached. Only the first delivery of
 * a key may start. Deliveries without a key were created before the lane had an order.
 */
// oxlint-disable-next-line max-lines-per-function -- one statement is one screen of SQL
const headsAt = (at: ReadAt): Sql => sql`
     cross join lateral (
             with recursive walk (order_key, steps, wrapped) as (
               select gen.from_key, 0, false
                 from (select gen_random_uuid() as from_key) gen
               union all
               select next.order_key, walk.steps + 1, next.wrapped
                 from walk
                cross join lateral (
                        (select d.order_key, walk.wrapped as wrapped
                           from deliveries d
                          where d.workspace_id = asked.workspace_id
                            and d.destination_id = asked.destination_id
                            and d.order_key > walk.order_key
                            and d.order_key is not null
                            and d.state in ${OUTSTANDING}
                          order by d.order_key
                          limit 1)
                        union all
                        (select d.order_key, true
                           from deliveries d
                          where not walk.wrapped
                            and d.workspace_id = asked.workspace_id
                            and d.destination_id = asked.destination_id
                            and d.order_key is not null
                            and d.state in ${OUTSTANDING}
                          order by d.order_key
                          limit 1)
                         order by wrapped
                         limit 1
                      ) next
                where walk.steps <= 2 * asked.most + 100
             ), heads as (
               select head.id, head.state, head.next_attempt_at
                 from (
                        select distinct order_key
                          from walk
                         where steps > 0
                      ) keys
                cross join lateral (
                        select d.id, d.state, d.next_attempt_at
                          from deliveries d
                         where d.workspace_id = asked.workspace_id
                           and d.destination_id = asked.destination_id
                           and d.order_key = keys.order_key
                           and d.order_key is not null
                           and d.state in ${OUTSTANDING}
                         order by d.order_seq
                         limit 1
                      ) head
                where head.next_attempt_at is not null
             ), free as (
               select early.id, early.state, early.next_attempt_at
                 from (values ('pending'), ('retrying')) as waiting (state)
                cross join lateral (
                        select d.id, d.state, d.next_attempt_at, d.order_key
                          from deliveries d
                         where d.workspace_id = asked.workspace_id
                           and d.destination_id = asked.destination_id
                           and d.state = waiting.state
                           and d.next_attempt_at is not null
                         order by d.next_attempt_at, d.id
                         limit 4 * asked.most
                      ) early
                where early.order_key is null
             ), waiting as (
               select id, state, next_attempt_at
                 from heads
               union all
               select id, state, next_attempt_at
                 from free
             )
             select (
                      select coalesce(json_agg(id order by state, next_attempt_at, id), '[]')
                        from (
                               select id, state, next_attempt_at
                                 from waiting
                                where next_attempt_at <= ${at.now}
                                  and id not in (select unnest(${at.exclude}::uuid[]))
                                order by state, next_attempt_at, id
                                limit asked.most
                             ) chosen
                    ) as ids,
                    (
                      select min(next_attempt_at)
                        from waiting
                       where next_attempt_at > ${at.now}
                    ) as later_at
           ) due
     cross join lateral (
             select due.later_at as at
           ) later
`
