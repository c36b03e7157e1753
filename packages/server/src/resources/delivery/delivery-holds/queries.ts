import { sql, type Db } from '../../../platform/db.ts'
import type { RatePer } from '../../../domain/delivery/rate-window.ts'
import type { LaneStandRow } from '../lanes/index.ts'

/** Deliveries that are held back. These statements read lanes and deliveries of other rooms and change nothing. */

type InProjects = { readonly workspaceId: string; readonly projectIds: readonly string[] }

export type LaneRow = {
  readonly destination_id: string
  readonly name: string
  readonly enabled: boolean
  readonly disabled_reason: 'by_hand' | 'gone' | 'failing' | null
  readonly disabled_at: Date | null
  readonly max_in_flight: number
  readonly rate_count: number | null
  readonly rate_per: RatePer | null
  readonly ordered: boolean
  readonly lane: LaneStandRow
  /** Requests in progress, including those of previous senders. */
  readonly busy: number
}

/** The lanes that may hold deliveries back: the destination is off, the sender has stored a state, all slots are taken, or the lane is ordered. */
export function listLanes(
  db: Db,
  at: InProjects & { destinationIds: readonly string[] | null; now: Date },
): Promise<readonly LaneRow[]> {
  const asked = at.destinationIds === null ? sql`` : sql`and destination_id = any (${at.destinationIds}::uuid[])`
  const among = at.destinationIds === null ? sql`` : sql`and t.id = any (${at.destinationIds}::uuid[])`
  return db.many<LaneRow>(sql`
    with sending as (
      select destination_id, count(*)::int as count
        from deliveries
       where workspace_id = ${at.workspaceId}
         and state = 'sending'
         ${asked}
       group by destination_id
    ), orphaned as (
      select destination_id, count(*)::int as count
        from orphaned_requests
       where workspace_id = ${at.workspaceId}
         and ends_by > ${at.now}
         ${asked}
       group by destination_id
    )
    select t.id as destination_id, t.name, t.enabled, t.disabled_reason, t.disabled_at, t.max_in_flight, t.rate_count, t.rate_per, l.ordered,
           json_build_object('memory', l.memory, 'remembered_at', l.remembered_at, 'breaker_resets', l.breaker_resets,
                             'probes_asked', l.probes_asked) as lane,
           coalesce(sending.count, 0) + coalesce(orphaned.count, 0) as busy
      from destinations t
      join lanes l on l.workspace_id = t.workspace_id and l.destination_id = t.id
      left join sending on sending.destination_id = t.id
      left join orphaned on orphaned.destination_id = t.id
     where t.workspace_id = ${at.workspaceId}
       and t.project_id = any (${at.projectIds}::uuid[])
       ${among}
       and (   not t.enabled
            or l.memory is not null
            or l.ordered
            or coalesce(sending.count, 0) + coalesce(orphaned.count, 0) >= t.max_in_flight)
     order by t.id
  `)
}

/** The deliveries that a lane holds back: those due by `until`, and with `off` those paused because the destination is off. */
export type HeldLane = { readonly destinationId: string; readonly until: Date; readonly off: boolean }
export type HeldCountRow = {
  readonly destination_id: string
  readonly count: number
  /** The number of deliveries looked at, up to the limit. */
  readonly looked: number
  /** The time at which the first of them became due; null: they are paused. */
  readonly oldest_due_at: Date | null
}

/** The number of deliveries that each of these lanes holds back, each counted up to `max`. */
export function countHeld(
  db: Db,
  at: { workspaceId: string; lanes: readonly HeldLane[]; max: number },
): Promise<readonly HeldCountRow[]> {
  return db.many<HeldCountRow>(sql`
    select given.destination_id, held.count, held.count as looked, held.oldest_due_at
      from unnest(
             ${at.lanes.map((lane) => lane.destinationId)}::uuid[],
             ${at.lanes.map((lane) => lane.until)}::timestamptz[],
             ${at.lanes.map((lane) => lane.off)}::bool[]
           ) as given (destination_id, until, off)
     cross join lateral (
             select count(*)::int as count, min(held_back.next_attempt_at) as oldest_due_at
               from (
                      select each.next_attempt_at
                        from (
                               select due.next_attempt_at
                                 from (values ('pending'), ('retrying')) as waiting (state)
                                cross join lateral (
                                        select d.next_attempt_at
                                          from deliveries d
                                         where d.workspace_id = ${at.workspaceId}
                                           and d.destination_id = given.destination_id
                                           and d.state = waiting.state
                                           and d.next_attempt_at <= given.until
                                         order by d.next_attempt_at
                                         limit ${at.max}
                                      ) due
                               union all
                               select paused.next_attempt_at
                                 from (
                                        select d.next_attempt_at
                                          from deliveries d
                                         where given.off
                                           and d.workspace_id = ${at.workspaceId}
                                           and d.destination_id = given.destination_id
                                           and d.state = 'paused'
                                           and d.pause_reason = 'destination_disabled'
                                         limit ${at.max}
                                      ) paused
                             ) each
                       limit ${at.max}
                    ) held_back
           ) held
  `)
}

/** In each of these lanes, the number of deliveries behind an earlier one with their key. Looks at no more than `max`. */
export function countBehind(
  db: Db,
  at: { workspaceId: string; destinationIds: readonly string[]; now: Date; max: number },
): Promise<readonly HeldCountRow[]> {
  return db.many<HeldCountRow>(sql`
    select given.destination_id, held.count, held.looked, held.oldest_due_at
      from unnest(${at.destinationIds}::uuid[]) as given (destination_id)
     cross join lateral (
             select count(*) filter (where place > 1 and next_attempt_at <= ${at.now})::int as count, count(*)::int as looked,
                    min(next_attempt_at) filter (where place > 1 and next_attempt_at <= ${at.now}) as oldest_due_at
               from (
                      select next_attempt_at, row_number() over (partition by order_key order by order_seq) as place
                        from (
                               select order_key, order_seq, next_attempt_at
                                 from deliveries d
                                where d.workspace_id = ${at.workspaceId}
                                  and d.destination_id = given.destination_id
                                  and d.order_key is not null
                                  and d.state in ('pending', 'sending', 'retrying', 'paused')
                                order by order_key, order_seq
                                limit ${at.max}
                             ) looked_at
                    ) placed
           ) held
  `)
}

/** The deliveries among these that an earlier one with the same key holds back, each with that earlier one. */
export function findBehind(
  db: Db,
  at: { workspaceId: string; projectId: string; ids: readonly string[] },
): Promise<readonly { readonly id: string; readonly behind: string }[]> {
  return db.many<{ id: string; behind: string }>(sql`
    select d.id, head.id as behind
      from deliveries d
     cross join lateral (
             select e.id
               from deliveries e
              where e.workspace_id = d.workspace_id
                and e.destination_id = d.destination_id
                and e.order_key = d.order_key
                and e.order_key is not null
                and e.order_seq < d.order_seq
                and e.state in ('pending', 'sending', 'retrying', 'paused')
              order by e.order_seq
              limit 1
           ) head
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and d.id = any (${at.ids}::uuid[])
       and d.order_key is not null
  `)
}
