import type { LaneMemory } from '../../../domain/delivery/lane-memory.ts'
import type { RatePer } from '../../../domain/delivery/rate-window.ts'
import { keepOrphans, type LaneAt } from '../../../resources/delivery/lanes/queries.ts'
import { whenInactive } from '../../../resources/delivery/deliveries/queries.ts'
import { sql, texts, type Db, type Sql } from '../../../platform/db.ts'

/** A lane is the queue of a destination. Except for reads, these statements run inside the transaction of the delivery store. */
export type HeldAt = LaneAt & { readonly fence: number }

const workspaces = (lanes: readonly LaneAt[]) => lanes.map((lane) => lane.workspaceId)
const destinations = (lanes: readonly LaneAt[]) => lanes.map((lane) => lane.destinationId)

/** Frees lanes whose grant got no answer. */
export function freeDoubtful(db: Db, at: { owner: string; from: number }): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- the lanes of one owner, in all workspaces
  return db.run(sql`
    update lanes
       set owner = null
     where owner = ${at.owner}
       and serial >= ${at.from}
  `)
}

/** The memory for the next owner of a lane. */
export type NoteRow = HeldAt & {
  readonly serial: number
  readonly memory: LaneMemory | null
  readonly waitsUntil: Date | null
}

/** The notes as a table `note`, for the two statements that write them: a turn and a release. */
export function notesTable(notes: readonly NoteRow[]): Sql {
  return sql`
    unnest(
      ${workspaces(notes)}::uuid[],
      ${destinations(notes)}::uuid[],
      ${notes.map((note) => note.fence)}::bigint[],
      ${notes.map((note) => note.serial)}::bigint[],
      ${texts(notes.map((note) => (note.memory === null ? null : JSON.stringify(note.memory))))},
      ${notes.map((note) => note.waitsUntil)}::timestamptz[]
    ) as note (workspace_id, destination_id, fence, serial, memory, waits_until)`
}

/** A person may close the breaker or request a probe while the note is under way. Then the lane does not wait. */
export const persistedWait = sql`case when (note.memory::json ->> 'breaker_resets')::integer = l.breaker_resets
                and coalesce((note.memory::json ->> 'probes_asked')::integer, 0) = l.probes_asked then note.waits_until end`

/** Gives lanes back, and writes the notes of some of them in the same update. */
export function freeLanes(
  db: Db,
  at: { owner: string; lanes: readonly HeldAt[]; notes: readonly NoteRow[]; now: Date },
): Promise<number> {
  const noting = at.notes.length > 0
  return db.run(sql`
    update lanes l
       set owner = null
           ${
             noting
               ? sql`,
           memory = case when note.serial > l.note_serial then note.memory::json else l.memory end,
           waits_until = case when note.serial > l.note_serial then ${persistedWait} else l.waits_until end,
           remembered_at = case when note.serial > l.note_serial then ${at.now}::timestamptz else l.remembered_at end,
           note_serial = greatest(l.note_serial, note.serial)`
               : sql``
           }
      from unnest(${workspaces(at.lanes)}::uuid[], ${destinations(at.lanes)}::uuid[], ${at.lanes.map((lane) => lane.fence)}::bigint[])
        as given (workspace_id, destination_id, fence)
      ${noting ? sql`left join ${notesTable(at.notes)} using (workspace_id, destination_id, fence)` : sql``}
     where l.workspace_id = given.workspace_id
       and l.destination_id = given.destination_id
       and l.fence = given.fence
       and l.owner = ${at.owner}
  `)
}

export type CandidateRow = {
  readonly workspace_id: string
  readonly destination_id: string
  /** `gone`: the destination, or its project, was deleted. */
  readonly status: 'open' | 'gone' | 'workspace_suspended' | 'workspace_closed' | 'destination_disabled'
  readonly leftover: boolean
  /** The previous owner neither gave it back nor ended its lease itself, so its requests may still be under way. */
  readonly unended: boolean
  /** Requests of earlier owners may still be under way. */
  readonly orphaned: boolean
}

/**
 * Locks lanes with work, the longest due first: the named lanes, or any except those to `avoid`. Work is a due delivery, a delivery left
 * `sending`, or a waiting delivery in a lane that is not open. Before the next probe of an open breaker, nothing is due. The statement
 * skips lanes that another transaction is granting; the grant checks after the lock whether a lane is still free.
 */
// oxlint-disable-next-line max-lines-per-function -- one statement is one screen of SQL
export function lockCandidates(
  db: Db,
  at: { wanted: readonly LaneAt[] | 'any'; avoid: readonly LaneAt[]; now: Date; limit: number },
): Promise<readonly CandidateRow[]> {
  const named =
    at.wanted === 'any'
      ? // The walk reads the index of waiting deliveries from destination to destination, so idle ones cost nothing.
        sql`
          select workspace_id, destination_id
            from walk
           where workspace_id is not null
          union
          select workspace_id, destination_id
            from deliveries
           where state = 'sending'`
      : sql`
          select workspace_id, destination_id
            from unnest(${workspaces(at.wanted)}::uuid[], ${destinations(at.wanted)}::uuid[]) as given (workspace_id, destination_id)`
  return db.many<CandidateRow>(sql`
    with recursive walk (workspace_id, destination_id) as (
      (select workspace_id, destination_id
         from deliveries
        where next_attempt_at is not null
        order by workspace_id, destination_id
        limit 1)
      union all
      select further.workspace_id, further.destination_id
        from walk
        left join lateral (
               select workspace_id, destination_id
                 from deliveries
                where next_attempt_at is not null
                  and (workspace_id, destination_id) > (walk.workspace_id, walk.destination_id)
                order by workspace_id, destination_id
                limit 1
             ) further on true
       where walk.workspace_id is not null
    ), named as (${named}
    )
    select l.workspace_id, l.destination_id, coalesce(why.status, 'open') as status, leftover.yes as leftover,
           exists (
             select 1
               from lane_owners o
              where o.owner = l.owner
           ) as unended,
           exists (
             select 1
               from orphaned_requests o
              where o.workspace_id = l.workspace_id
                and o.destination_id = l.destination_id
                and o.ends_by > ${at.now}
           ) as orphaned
      from named
      join lanes l using (workspace_id, destination_id)
      join workspaces w on w.id = l.workspace_id
      left join destinations t on t.workspace_id = l.workspace_id and t.id = l.destination_id
      left join projects p on p.workspace_id = t.workspace_id and p.id = t.project_id and p.deleted_at is null
     cross join lateral (
             select case when p.id is null then 'gone'
                         ${whenInactive}
                         when not t.enabled then 'destination_disabled'
                    end as status
           ) why
     cross join lateral (
             select exists (
                      select 1
                        from deliveries d
                       where d.workspace_id = l.workspace_id
                         and d.destination_id = l.destination_id
                         and d.state = 'sending'
                    ) as yes
           ) leftover
     cross join lateral (
             select min(first.next_attempt_at) as at
               from (values ('pending'), ('retrying')) as waiting (state)
              cross join lateral (
                      select d.next_attempt_at
                        from deliveries d
                       where d.workspace_id = l.workspace_id
                         and d.destination_id = l.destination_id
                         and d.state = waiting.state
                         and d.next_attempt_at is not null
                       order by d.next_attempt_at
                       limit 1
                    ) first
           ) due
     where (   leftover.yes
            or (due.at <= ${at.now} and coalesce(l.waits_until <= ${at.now}, true))
            or (due.at is not null and why.status is not null))
       and not exists (
             select 1
               from lane_owners o
              where o.owner = l.owner
                and o.lease_until > ${at.now}
           )
       ${at.avoid.length === 0 ? sql`` : notAmong(at.avoid)}
     order by leftover.yes desc, due.at
     limit ${at.limit}
       for update of l skip locked
  `)
}

const notAmong = (lanes: readonly LaneAt[]): Sql => sql`
       and not exists (
             select 1
               from unnest(${workspaces(lanes)}::uuid[], ${destinations(lanes)}::uuid[]) as given (workspace_id, destination_id)
              where given.workspace_id = l.workspace_id
                and given.destination_id = l.destination_id
           )`

export type GrantRow = {
  readonly workspace_id: string
  readonly destination_id: string
  readonly fence: number
  readonly max_in_flight: number
  readonly schedule_seconds: readonly number[] | null
  readonly timeout_ms: number
  readonly rate_count: number | null
  readonly rate_per: RatePer | null
  readonly breaker_resets: number
  readonly probes_asked: number
  readonly ordered: boolean
  /** The plan of the workspace, which can lower `max_in_flight`. */
  readonly plan: string
  readonly memory: LaneMemory | null
  readonly remembered_at: Date | null
}

/**
 * Gives locked lanes to an owner (null: to nobody) and raises their fences. Lanes that another process owns by now stay with it.
 */
export function grantLanes(
  db: Db,
  at: { lanes: readonly LaneAt[]; owner: string | null; serial: number; now: Date },
): Promise<readonly GrantRow[]> {
  return db.many<GrantRow>(sql`
    update lanes l
       set owner = ${at.owner},
           serial = ${at.serial},
           fence = l.fence + 1,
           note_serial = 0
      from unnest(${workspaces(at.lanes)}::uuid[], ${destinations(at.lanes)}::uuid[]) as given (workspace_id, destination_id)
      join destinations t on t.workspace_id = given.workspace_id and t.id = given.destination_id
      join workspaces w on w.id = given.workspace_id
     where l.workspace_id = given.workspace_id
       and l.destination_id = given.destination_id
       and not exists (
             select 1
               from lane_owners o
              where o.owner = l.owner
                and o.lease_until > ${at.now}
           )
    returning l.workspace_id, l.destination_id, l.fence, t.max_in_flight, t.schedule_seconds, t.timeout_ms, t.rate_count, t.rate_per,
              l.breaker_resets, l.probes_asked, l.ordered, w.plan, l.memory, l.remembered_at
  `)
}

/**
 * Recovers the deliveries that a previous owner left `sending`. Their attempts end as `interrupted`, which is not a
 * failure; the deliveries are due immediately, or paused with their destination. If the owner is `unended`, the
 * attempts become orphans. Returns their number.
 */
export function recoverLanes(
  db: Db,
  at: { lanes: readonly (LaneAt & { readonly unended: boolean })[]; now: Date },
): Promise<number> {
  return db.run(sql`
    with recovered as (
      update deliveries d
         set state = case when why.reason is null then 'retrying' else 'paused' end,
             pause_reason = why.reason,
             next_trigger = 'automatic',
             next_attempt_at = case when why.reason is null then ${at.now}::timestamptz end,
             updated_at = ${at.now}
        from unnest(${workspaces(at.lanes)}::uuid[], ${destinations(at.lanes)}::uuid[], ${at.lanes.map((lane) => lane.unended)}::bool[])
          as given (workspace_id, destination_id, unended)
        join destinations t on t.workspace_id = given.workspace_id and t.id = given.destination_id
        join workspaces w on w.id = given.workspace_id
       cross join lateral (
               select case ${whenInactive}
                           when not t.enabled then 'destination_disabled'
                      end as reason
             ) why
       where d.workspace_id = given.workspace_id
         and d.destination_id = given.destination_id
         and d.state = 'sending'
      returning d.workspace_id, d.id, given.unended
    ), ended as (
      update delivery_attempts a
         set outcome = 'interrupted'
        from recovered
       where a.workspace_id = recovered.workspace_id
         and a.delivery_id = recovered.id
         and a.outcome is null
      returning a.workspace_id, a.destination_id, a.id as attempt_id, a.started_at, recovered.unended
    ), orphan as (
      select workspace_id, destination_id, attempt_id, started_at
        from ended
       where unended
    )
    ${keepOrphans}
  `)
}

/** Returns the requested lanes that another living process owns, or that are not granted before their next probe. */
export function ownedElsewhere(
  db: Db,
  at: { lanes: readonly LaneAt[]; owner: string; now: Date },
): Promise<readonly LaneAt[]> {
  return db.many<LaneAt>(sql`
    select l.workspace_id as "workspaceId", l.destination_id as "destinationId"
      from unnest(${workspaces(at.lanes)}::uuid[], ${destinations(at.lanes)}::uuid[]) as given (workspace_id, destination_id)
      join lanes l using (workspace_id, destination_id)
      left join lane_owners o on o.owner = l.owner and o.lease_until > ${at.now}
     where case when o.owner is null then l.waits_until > ${at.now} else o.owner <> ${at.owner} end
  `)
}
