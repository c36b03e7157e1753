import type { StoredRequest } from '../../../domain/delivery/sent-request.ts'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type At = { readonly workspaceId: string; readonly projectId: string }
type LaneAt = { readonly workspaceId: string; readonly destinationId: string; readonly now: Date }
export type PauseReason = 'workspace_suspended' | 'workspace_closed' | 'destination_disabled' | 'allowance_used'

export type DeliveryRow = {
  readonly id: string
  readonly record_id: string
  readonly dataset: string
  readonly destination_id: string
  readonly state: 'pending' | 'sending' | 'delivered' | 'retrying' | 'failed' | 'paused' | 'cancelled'
  readonly pause_reason: PauseReason | null
  readonly attempt_count: number
  readonly next_attempt_at: Date | null
  readonly last_status: number | null
  readonly last_error: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const columns: Sql = sql`
  d.id, d.record_id, r.dataset, d.destination_id, d.state, d.pause_reason, d.attempt_count, d.next_attempt_at,
  d.last_status, d.last_error, d.created_at, d.updated_at
`
const withRecord: Sql = sql`
  deliveries d
  join records r
    on r.workspace_id = d.workspace_id
   and r.project_id = d.project_id
   and r.id = d.record_id
`

export function findDelivery(db: Db, at: At & { id: string }): Promise<DeliveryRow | undefined> {
  return db.maybe<DeliveryRow>(sql`
    select ${columns}
      from ${withRecord}
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and d.id = ${at.id}
  `)
}

export type AttemptRow = {
  readonly id: string
  readonly number: number
  readonly trigger: 'initial' | 'automatic' | 'manual' | 'replay' | 'resume'
  readonly started_at: Date
  readonly duration_ms: number | null
  readonly outcome: 'succeeded' | 'failed' | 'interrupted' | null
  readonly response_status: number | null
  readonly response_headers: Record<string, string> | null
  readonly response_body: string | null
  readonly response_truncated: boolean | null
  readonly error_code: string | null
  readonly error_detail: string | null
  readonly next_attempt_at: Date | null
  readonly request: StoredRequest | null
}

export function listAttempts(db: Db, at: At & { deliveryId: string }): Promise<readonly AttemptRow[]> {
  return db.many<AttemptRow>(sql`
    select id, number, trigger, started_at, duration_ms, outcome, response_status, response_headers, response_body,
           response_truncated, error_code, error_detail, next_attempt_at, request
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and delivery_id = ${at.deliveryId}
     order by number
  `)
}

/** One attempt with all of its columns. */
export function findAttempt(
  db: Db,
  at: At & { id: string },
): Promise<(AttemptRow & { readonly delivery_id: string }) | undefined> {
  return db.maybe<AttemptRow & { delivery_id: string }>(sql`
    select id, delivery_id, number, trigger, started_at, duration_ms, outcome, response_status, response_headers, response_body,
           response_truncated, error_code, error_detail, next_attempt_at, request
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** The deliveries of these records, oldest first. */
export function listDeliveriesOf(
  db: Db,
  at: At & { recordIds: readonly string[]; limit: number },
): Promise<readonly DeliveryRow[]> {
  return db.many<DeliveryRow>(sql`
    select ${columns}
      from ${withRecord}
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and d.record_id = any (${at.recordIds}::uuid[])
     order by d.id
     limit ${at.limit}
  `)
}

/** An attempt without its request and its answer, which may be long. */
export type AttemptOfRow = Omit<AttemptRow, 'response_headers' | 'response_body' | 'request'> & {
  readonly delivery_id: string
}

/** The attempts of these deliveries, oldest first. */
export function listAttemptsOf(
  db: Db,
  at: At & { deliveryIds: readonly string[]; limit: number },
): Promise<readonly AttemptOfRow[]> {
  return db.many<AttemptOfRow>(sql`
    select id, delivery_id, number, trigger, started_at, duration_ms, outcome, response_status, response_truncated,
           error_code, error_detail, next_attempt_at
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and delivery_id = any (${at.deliveryIds}::uuid[])
     order by id
     limit ${at.limit}
  `)
}

/** The delivery that an attempt belongs to. */
export async function findAttemptDelivery(db: Db, at: At & { id: string }): Promise<string | undefined> {
  const row = await db.maybe<{ delivery_id: string }>(sql`
    select delivery_id
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
  return row?.delivery_id
}

/** Inside a `case`: the reason why workspace `w` sends nothing. A suspension comes first, because only the operator can lift it. */
export const whenInactive: Sql = sql`
                when w.suspended_at is not null then 'workspace_suspended'
                when w.closed_at is not null then 'workspace_closed'
`

/** The reason why nothing may be sent to destination `t` of workspace `w` now; null when sending is allowed. */
export const reasonToWait: Sql = sql`
  cross join lateral (
    select case ${whenInactive}
                when not t.enabled then 'destination_disabled'
           end as reason
  ) why
`

/** The columns that a replay resets in delivery `d` besides its state: a new schedule, and a place behind all others with its key. */
export const startedAfresh: Sql = sql`
           pause_reason = why.reason,
           failure_count = 0,
           order_seq = case when d.order_key is not null then nextval('deliveries_order') end,
           next_trigger = 'replay'
`

/**
 * The most rows that one of the statements below moves. A backlog of a million would be locked for seconds, and turns of other
 * lanes would wait. For the same reason, the statements skip rows that a turn has locked. The sweeps find the remaining rows.
 */
export const MOVED_ROWS_MAX = 2_000

/** Pauses the deliveries that wait for a destination. A delivery that is being sent is paused when its attempt settles. */
export function pauseOutstanding(db: Db, at: LaneAt & { reason: PauseReason }): Promise<number> {
  return db.run(sql`
    update deliveries
       set state = 'paused',
           pause_reason = ${at.reason},
           next_attempt_at = null,
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
       and id = any (array(
             select id
               from deliveries
              where workspace_id = ${at.workspaceId}
                and destination_id = ${at.destinationId}
                and state in ('pending', 'retrying')
                and next_attempt_at is not null
              limit ${MOVED_ROWS_MAX}
                for update skip locked
           ))
       and state in ('pending', 'retrying')
  `)
}

/** Makes paused deliveries due immediately. A delivery that another reason holds back stays paused with that reason. */
export function resumePaused(db: Db, at: LaneAt): Promise<number> {
  return db.run(sql`
    update deliveries d
       set state = case when why.reason is not null then 'paused'
                        when d.attempt_count = 0 then 'pending'
                        else 'retrying' end,
           pause_reason = why.reason,
           next_trigger = case when why.reason is not null or d.attempt_count = 0 then d.next_trigger else 'resume' end,
           next_attempt_at = case when why.reason is null then ${at.now}::timestamptz end,
           updated_at = ${at.now}
      from destinations t
      join workspaces w on w.id = t.workspace_id
     ${reasonToWait}
     where t.workspace_id = ${at.workspaceId}
       and t.id = ${at.destinationId}
       and d.workspace_id = t.workspace_id
       and d.destination_id = t.id
       and d.id = any (array(
             select p.id
               from destinations t
               join workspaces w on w.id = t.workspace_id
              ${reasonToWait}
               join deliveries p on p.workspace_id = t.workspace_id and p.destination_id = t.id
              where t.workspace_id = ${at.workspaceId}
                and t.id = ${at.destinationId}
                and p.state = 'paused'
                and p.pause_reason in ('workspace_suspended', 'workspace_closed', 'destination_disabled')
                and p.pause_reason is distinct from why.reason
              limit ${MOVED_ROWS_MAX}
                for update of p skip locked
           ))
       and d.state = 'paused'
  `)
}

/**
 * Ends all outstanding deliveries for a destination, also those that are being sent: the sender's fence is out of
 * date. It locks attempts before deliveries, as a turn does, so there is no deadlock. An attempt that a turn is
 * settling now ends with that turn.
 */
export async function cancelOutstanding(db: Db, at: LaneAt): Promise<number> {
  const open = await db.many<{ delivery_id: string }>(sql`
    select a.delivery_id
      from deliveries d
      join delivery_attempts a on a.workspace_id = d.workspace_id and a.project_id = d.project_id and a.delivery_id = d.id
     where d.workspace_id = ${at.workspaceId}
       and d.destination_id = ${at.destinationId}
       and d.state = 'sending'
       and a.outcome is null
     limit ${MOVED_ROWS_MAX}
       for update of a skip locked
  `)
  const canceled = await db.many<{ id: string }>(sql`
    update deliveries
       set state = 'cancelled',
           pause_reason = null,
           next_attempt_at = null,
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
       and id = any (array(
             select id
               from deliveries
              where workspace_id = ${at.workspaceId}
                and destination_id = ${at.destinationId}
                and state in ('pending', 'sending', 'retrying', 'paused')
                and (state <> 'sending' or id = any (${open.map((row) => row.delivery_id)}::uuid[]))
              limit ${MOVED_ROWS_MAX}
                for update skip locked
           ))
       and state in ('pending', 'sending', 'retrying', 'paused')
    returning id
  `)
  if (open.length > 0) {
    await db.run(sql`
      update delivery_attempts
         set outcome = 'interrupted'
       where workspace_id = ${at.workspaceId}
         and delivery_id = any (${canceled.map((row) => row.id)}::uuid[])
         and outcome is null
    `)
  }
  return canceled.length
}

/**
 * Lanes with paused deliveries that have no reason to wait, or whose destination or project was deleted. A commit leaves them when
 * it does not see a concurrent one. Walks the index of paused deliveries from destination to destination.
 */
export function findForgotten(
  db: Db,
  limit: number,
): Promise<readonly (Omit<LaneAt, 'now'> & { readonly gone: boolean })[]> {
  return db.many<Omit<LaneAt, 'now'> & { gone: boolean }>(sql`
    with recursive walk (workspace_id, destination_id) as (
      (select workspace_id, destination_id
         from deliveries
        where state = 'paused'
        order by workspace_id, destination_id
        limit 1)
      union all
      select further.workspace_id, further.destination_id
        from walk
        left join lateral (
               select workspace_id, destination_id
                 from deliveries
                where state = 'paused'
                  and (workspace_id, destination_id) > (walk.workspace_id, walk.destination_id)
                order by workspace_id, destination_id
                limit 1
             ) further on true
       where walk.workspace_id is not null
    )
    select walk.workspace_id as "workspaceId", walk.destination_id as "destinationId", p.id is null as gone
      from walk
      join workspaces w on w.id = walk.workspace_id
      left join destinations t on t.workspace_id = walk.workspace_id and t.id = walk.destination_id
      left join projects p on p.workspace_id = t.workspace_id and p.id = t.project_id and p.deleted_at is null
     where p.id is null
        or (t.enabled and not w.halted and exists (
             select 1
               from deliveries d
              where d.workspace_id = walk.workspace_id
                and d.destination_id = walk.destination_id
                and d.state = 'paused'
                and d.pause_reason in ('workspace_suspended', 'workspace_closed', 'destination_disabled')
           ))
     limit ${limit}
  `)
}
