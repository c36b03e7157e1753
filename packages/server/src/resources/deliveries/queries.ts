import { sql, type Db, type Sql } from '../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }
type LaneAt = { readonly workspaceId: string; readonly destinationId: string; readonly now: Date }
export type PauseReason = 'workspace_suspended' | 'destination_disabled' | 'allowance_used'

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

const columns: Sql = sql`
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

export type DeliveryFilter = {
  readonly state: DeliveryRow['state'] | null
  readonly destinationId: string | null
  readonly recordId: string | null
}

/** Newest first; `before` is the id to continue after. */
export function listDeliveries(
  db: Db,
  at: At & DeliveryFilter & { before: string | null; limit: number },
): Promise<readonly DeliveryRow[]> {
  return db.many<DeliveryRow>(sql`
    select ${columns}
      from ${withRecord}
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       ${at.state === null ? sql`` : sql`and d.state = ${at.state}`}
       ${at.destinationId === null ? sql`` : sql`and d.destination_id = ${at.destinationId}`}
       ${at.recordId === null ? sql`` : sql`and d.record_id = ${at.recordId}`}
       ${at.before === null ? sql`` : sql`and d.id < ${at.before}`}
     order by d.id desc
     limit ${at.limit}
  `)
}

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
}

export function listAttempts(db: Db, at: At & { deliveryId: string }): Promise<readonly AttemptRow[]> {
  return db.many<AttemptRow>(sql`
    select id, number, trigger, started_at, duration_ms, outcome, response_status, response_headers, response_body,
           response_truncated, error_code, error_detail, next_attempt_at
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and delivery_id = ${at.deliveryId}
     order by number
  `)
}

/** Due at once with a fresh schedule, or paused while its destination is off; undefined when it has not ended yet. */
export function replayDelivery(db: Db, at: At & { id: string; now: Date }): Promise<{ destination_id: string } | undefined> {
  return db.maybe<{ destination_id: string }>(sql`
    update deliveries d
       set state = case when t.enabled then 'pending' else 'paused' end,
           pause_reason = case when t.enabled then null else 'destination_disabled' end,
           failure_count = 0,
           next_trigger = 'replay',
           next_attempt_at = case when t.enabled then ${at.now}::timestamptz end,
           updated_at = ${at.now}
      from destinations t
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and d.id = ${at.id}
       and d.state in ('delivered', 'failed', 'cancelled')
       and t.workspace_id = d.workspace_id
       and t.project_id = d.project_id
       and t.id = d.destination_id
    returning d.destination_id
  `)
}

/** What waits for a destination is paused; what is being sent ends as it began and is paused when it settles. */
export function pauseOutstanding(db: Db, at: LaneAt & { reason: PauseReason }): Promise<number> {
  return db.run(sql`
    update deliveries
       set state = 'paused',
           pause_reason = ${at.reason},
           next_attempt_at = null,
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
       and next_attempt_at is not null
       and state in ('pending', 'retrying')
  `)
}

/** What was paused for this reason is due at once. */
export function resumePaused(db: Db, at: LaneAt & { reason: PauseReason }): Promise<number> {
  return db.run(sql`
    update deliveries
       set state = case when attempt_count = 0 then 'pending' else 'retrying' end,
           pause_reason = null,
           next_trigger = case when attempt_count = 0 then next_trigger else 'resume' end,
           next_attempt_at = ${at.now},
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
       and state = 'paused'
       and pause_reason = ${at.reason}
  `)
}

/** Ends everything outstanding of a destination, what is being sent included: its sender finds the fence moved on. */
export async function cancelOutstanding(db: Db, at: LaneAt): Promise<number> {
  await db.run(sql`
    update delivery_attempts
       set outcome = 'interrupted'
     where workspace_id = ${at.workspaceId}
       and outcome is null
       and delivery_id in (
             select id
               from deliveries
              where workspace_id = ${at.workspaceId}
                and destination_id = ${at.destinationId}
                and state = 'sending'
           )
  `)
  return db.run(sql`
    update deliveries
       set state = 'cancelled',
           pause_reason = null,
           next_attempt_at = null,
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
       and state in ('pending', 'sending', 'retrying', 'paused')
  `)
}
