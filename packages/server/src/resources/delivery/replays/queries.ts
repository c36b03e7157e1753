import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'
import { reasonToWait, startedAfresh } from '../deliveries/index.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/** The filter of a replay as it is stored: ids are UUIDs. */
export type StoredFilter = {
  readonly state: readonly ('failed' | 'cancelled' | 'delivered')[]
  readonly destination_id?: string | undefined
  readonly record_id?: string | undefined
  readonly webhook_id?: string | undefined
  readonly dataset?: string | undefined
  readonly conditions: readonly object[]
  readonly q?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export type ReplayState = 'running' | 'paused' | 'done' | 'cancelled'

export type ReplayPause = 'by_hand' | 'allowance_used'

export type ReplayRow = {
  readonly id: string
  readonly kind: 'replay' | 'recover'
  readonly filter: StoredFilter
  readonly rate_per_second: number
  readonly state: ReplayState
  readonly pause_reason: ReplayPause | null
  readonly total: number | null
  readonly replayed: number
  readonly skipped: number
  /** The number of replayed deliveries that were delivered. */
  readonly delivered: number
  readonly failed: number
  readonly cancelled: number
  readonly unknown: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly ended_at: Date | null
}

const columns: Sql = sql`id, kind, filter, rate_per_second, state, pause_reason, total, replayed, skipped, delivered, failed, cancelled, unknown,
  created_at, updated_at, ended_at`

export function listReplays(db: Db, at: At & { before: string | null; limit: number }): Promise<readonly ReplayRow[]> {
  return db.many<ReplayRow>(sql`
    select ${columns}
      from replays
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export function findReplay(db: Db, at: At & { id: string }): Promise<ReplayRow | undefined> {
  return db.maybe<ReplayRow>(sql`
    select ${columns}
      from replays
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

export async function countOpenReplays(db: Db, at: At): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from replays
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and state in ('running', 'paused')
  `)
  return count
}

type Begun = Pick<ReplayRow, 'id' | 'kind' | 'filter' | 'rate_per_second' | 'total'> & {
  readonly upto: string
  readonly now: Date
}

export function insertReplay(db: Db, row: At & Begun): Promise<ReplayRow> {
  return db.one<ReplayRow>(sql`
    insert into replays (workspace_id, project_id, id, kind, filter, rate_per_second, state, total, upto, next_at, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.kind}, ${JSON.stringify(row.filter)}, ${row.rate_per_second}, 'running',
            ${row.total}, ${row.upto}, ${row.now}, ${row.now}, ${row.now})
    returning ${columns}
  `)
}

/** Moves a replay out of one of these states; undefined when it is in none of them. A page that is under way ends first. */
export function moveReplay(
  db: Db,
  at: At & { id: string; from: readonly ReplayState[]; to: ReplayState; now: Date },
): Promise<ReplayRow | undefined> {
  return db.maybe<ReplayRow>(sql`
    update replays
       set state = ${at.to},
           pause_reason = ${at.to === 'paused' ? 'by_hand' : null},
           next_at = greatest(next_at, ${at.now}),
           ended_at = ${at.to === 'cancelled' ? at.now : null},
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and state = any (${at.from}::text[])
    returning ${columns}
  `)
}

type ReplayAt = { readonly workspace_id: string; readonly project_id: string; readonly id: string }

/** The replays that need a page before this time, except in suspended workspaces and deleted projects. */
export function listDueReplays(
  db: Db,
  at: { before: Date; without: readonly string[]; limit: number },
): Promise<readonly ReplayAt[]> {
  return db.many<ReplayAt>(sql`
    select r.workspace_id, r.project_id, r.id
      from replays r
      join workspaces w on w.id = r.workspace_id and not w.halted
      join projects p on p.workspace_id = r.workspace_id and p.id = r.project_id and p.deleted_at is null
     where r.state = 'running'
       and r.next_at < ${at.before}
       and r.id <> all (${at.without}::uuid[])
     order by r.next_at
     limit ${at.limit}
  `)
}

export type HeldReplay = ReplayRow & { readonly cursor: string | null; readonly upto: string; readonly next_at: Date }

/** Locks the replay until the transaction ends; undefined when it is not running or another process has locked it. */
export function lockReplay(db: Db, at: At & { id: string }): Promise<HeldReplay | undefined> {
  return db.maybe<HeldReplay>(sql`
    select ${columns}, cursor, upto, next_at
      from replays
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and state = 'running'
       for update skip locked
  `)
}

export type Slot = { readonly id: string; readonly at: Date }

/**
 * Makes ended deliveries due, each at a separate time, or paused while they may not be sent. Deliveries that are in
 * another state by now stay as they are. Replayed ones wait like retries, behind the first attempts of new events. The
 * bounds of ids select partitions.
 */
export function makeDue(
  db: Db,
  at: At & { replayId: string; slots: readonly Slot[]; states: readonly string[]; now: Date },
): Promise<readonly { id: string; destination_id: string }[]> {
  const ids = at.slots.map(({ id }) => id)
  return db.many<{ id: string; destination_id: string }>(sql`
    update deliveries d
       set state = case when why.reason is null then 'retrying' else 'paused' end,
           ${startedAfresh},
           replay_id = ${at.replayId},
           next_attempt_at = case when why.reason is null then slot.at end,
           updated_at = ${at.now}
      from unnest(${ids}::uuid[], ${at.slots.map((slot) => slot.at)}::timestamptz[]) as given (id, at)
     cross join lateral (select array[given.id] as ids, given.at offset 0) slot
     cross join workspaces w
      join destinations t on t.workspace_id = w.id
     ${reasonToWait}
     where w.id = ${at.workspaceId}
       and t.project_id = ${at.projectId}
       and d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and d.id = any (slot.ids)
       and d.id between ${ids[0] ?? null}::uuid and ${ids.at(-1) ?? null}::uuid
       and d.destination_id = t.id
       and d.state = any (${at.states}::text[])
       and d.state in ('delivered', 'failed', 'cancelled')
    returning d.id, d.destination_id
  `)
}

/** `stopped`: the allowance is used up. */
type Progress = {
  readonly id: string
  readonly cursor: string | null
  readonly replayed: number
  readonly skipped: number
  readonly nextAt: Date
  readonly over: boolean
  readonly stopped: boolean
  readonly now: Date
}

const stateAfter = ({ over, stopped }: Progress): ReplayState => (over ? 'done' : stopped ? 'paused' : 'running')

export async function saveProgress(db: Db, at: At & Progress): Promise<void> {
  await db.run(sql`
    update replays
       set cursor = coalesce(${at.cursor}::uuid, cursor),
           replayed = replayed + ${at.replayed},
           skipped = skipped + ${at.skipped},
           next_at = ${at.nextAt},
           state = ${stateAfter(at)},
           pause_reason = ${at.stopped ? 'allowance_used' : null},
           ended_at = ${at.over ? at.now : null},
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and state = 'running'
  `)
}

export type StoppedReplay = ReplayAt & { readonly plan: string; readonly used: number }

/** The replays of all workspaces that wait for the allowance, and how many deliveries their month has used. */
export function listStoppedReplays(db: Db, month: string): Promise<readonly StoppedReplay[]> {
  return db.many<StoppedReplay>(sql`
    select r.workspace_id, r.project_id, r.id, w.plan, coalesce(used.deliveries, 0) as used
      from replays r
      join workspaces w on w.id = r.workspace_id and not w.halted
      join projects p on p.workspace_id = r.workspace_id and p.id = r.project_id and p.deleted_at is null
      left join monthly_usage used on used.workspace_id = r.workspace_id and used.month = ${month}::date
     where r.pause_reason = 'allowance_used'
     order by r.id
  `)
}

/** Restarts a replay that waited for the allowance. */
export function restartReplay(db: Db, at: At & { id: string; now: Date }): Promise<number> {
  return db.run(sql`
    update replays
       set state = 'running',
           pause_reason = null,
           next_at = greatest(next_at, ${at.now}),
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and state = 'paused'
       and pause_reason = 'allowance_used'
  `)
}

/** Deletes replays that ended before this time, in workspaces on this plan, up to the limit. Returns how many. */
export function deleteEndedReplays(db: Db, at: { plan: string; before: Date; limit: number }): Promise<number> {
  return db.run(sql`
    delete from replays
     where (workspace_id, project_id, id) in (
             select r.workspace_id, r.project_id, r.id
               from workspaces w
               join replays r on r.workspace_id = w.id
              where w.plan = ${at.plan}
                and r.ended_at < ${at.before}
              limit ${at.limit}
           )
  `)
}

/** Deliveries to a destination that have not ended and whose id is this or later, counted up to the limit. */
export async function countWaiting(
  db: Db,
  at: At & { destinationId: string; fromId: string; limit: number },
): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from (
             (select id
                from deliveries
               where workspace_id = ${at.workspaceId}
                 and destination_id = ${at.destinationId}
                 and state = 'paused'
                 and id >= ${at.fromId}
               limit ${at.limit})
             union all
             (select id
                from deliveries
               where workspace_id = ${at.workspaceId}
                 and destination_id = ${at.destinationId}
                 and next_attempt_at is not null
                 and id >= ${at.fromId}
               limit ${at.limit})
             limit ${at.limit}
           ) waiting
  `)
  return count
}

/** When a replay runs, waits for the allowance, or has an outcome that is not counted. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const replaysDue: Due = () => sql`
  select from replays where state = 'running'
  union all (select from replays where pause_reason = 'allowance_used' limit 1)
  union all (select from replays where replayed > delivered + failed + cancelled + unknown limit 1)
`
