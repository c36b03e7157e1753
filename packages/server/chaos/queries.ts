import type { SealedColumn } from '../src/resources/secret-place.ts'
import { sql, type Database, type Db } from '../src/platform/db.ts'

/** The content of the store, read only by SQL: the checker does not ask the code under test. */
export type StoredRow = {
  readonly record_id: string | null
  readonly dataset: string | null
  readonly event: string | null
  readonly sha256: string | null
}

/** Every submission with each of its records. One without records appears once, with nulls. */
export function storedEvents(db: Db, at: { workspaceId: string }): Promise<readonly StoredRow[]> {
  return db.many<StoredRow>(sql`
    select r.id as record_id, r.dataset, s.body::json ->> 'event' as event,
           encode(sha256(convert_to(s.body, 'UTF8')), 'hex') as sha256
      from submissions s
      left join records r
        on r.workspace_id = s.workspace_id
       and r.project_id = s.project_id
       and r.submission_id = s.id
     where s.workspace_id = ${at.workspaceId}
  `)
}

export type DeliveryRow = {
  readonly id: string
  readonly record_id: string
  readonly destination_id: string
  readonly state: string
}

export function deliveries(db: Db, at: { workspaceId: string }): Promise<readonly DeliveryRow[]> {
  return db.many<DeliveryRow>(sql`
    select id, record_id, destination_id, state
      from deliveries
     where workspace_id = ${at.workspaceId}
  `)
}

export type AttemptRow = {
  readonly id: string
  readonly delivery_id: string
  readonly number: number
  readonly trigger: string
  readonly outcome: string | null
  readonly started_at: Date
}

export function attempts(db: Db, at: { workspaceId: string }): Promise<readonly AttemptRow[]> {
  return db.many<AttemptRow>(sql`
    select id, delivery_id, number, trigger, outcome, started_at
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
     order by delivery_id, number
  `)
}

export type LoggedRow = {
  readonly webhook_id: string
  readonly reason: string
  readonly rows: number
  readonly count: number
}

/** The rejection log, by endpoint and reason. */
export function loggedRejections(db: Db, at: { workspaceId: string }): Promise<readonly LoggedRow[]> {
  return db.many<LoggedRow>(sql`
    select webhook_id, reason, count(*) as rows, sum(count)::bigint as count
      from rejections
     where workspace_id = ${at.workspaceId}
     group by webhook_id, reason
  `)
}

/** Deliveries and workflow instances that have not ended. */
export async function countOutstanding(db: Db, at: { workspaceId: string }): Promise<number> {
  const { outstanding } = await db.one<{ outstanding: number }>(sql`
    select (
             select count(*)
               from deliveries
              where workspace_id = ${at.workspaceId}
                and state not in ('delivered', 'failed', 'cancelled')
           ) + (
             select count(*)
               from workflow_instances
              where workspace_id = ${at.workspaceId}
                and ended_at is null
           ) as outstanding
  `)
  return outstanding
}

export type InstanceRow = { readonly workflow_id: string; readonly record_id: string; readonly state: string }

export function workflowInstances(db: Db, at: { workspaceId: string }): Promise<readonly InstanceRow[]> {
  return db.many<InstanceRow>(sql`
    select workflow_id, record_id, state
      from workflow_instances
     where workspace_id = ${at.workspaceId}
  `)
}

/**
 * Waits that timed out although an event of the same name came into their dataset more than `sparedMs` after their
 * start and before their end. A wait starts when its commit ends, so a shorter time proves nothing.
 */
export function missedWakes(
  db: Db,
  at: { workspaceId: string; stepId: string; dataset: string; sparedMs: number },
): Promise<readonly { readonly event: string }[]> {
  return db.many<{ event: string }>(sql`
    select b.body::json ->> 'event' as event
      from workflow_step_runs w
      join workflow_instances i
        on i.workspace_id = w.workspace_id
       and i.project_id = w.project_id
       and i.id = w.instance_id
      join records r
        on r.workspace_id = i.workspace_id
       and r.project_id = i.project_id
       and r.id = i.record_id
      join submissions b
        on b.workspace_id = r.workspace_id
       and b.project_id = r.project_id
       and b.id = r.submission_id
     where w.workspace_id = ${at.workspaceId}
       and w.step_id = ${at.stepId}
       and w.output ->> 'timed_out' = 'true'
       and exists (
             select 1
               from records a
               join submissions s
                 on s.workspace_id = a.workspace_id
                and s.project_id = a.project_id
                and s.id = a.submission_id
              where a.workspace_id = w.workspace_id
                and a.project_id = w.project_id
                and a.dataset = ${at.dataset}
                and a.received_at > w.started_at + make_interval(secs => ${at.sparedMs / 1_000}::float8)
                and a.received_at < w.ended_at - make_interval(secs => ${at.sparedMs / 1_000}::float8)
                and s.body::json ->> 'event' = b.body::json ->> 'event'
           )
  `)
}

/** Ends the claims of every process, dead or alive, as the minute of their leases would. */
export async function expireClaims(db: Db, at: { workspaceId: string }): Promise<void> {
  await db.run(sql`
    update workflow_instances
       set lease_until = null
     where workspace_id = ${at.workspaceId}
       and lease_until is not null
  `)
}

/**
 * Puts the workspace on the team plan with the month's events used, and prepares the table that counts each gift of room once.
 */
export async function limitToTeam(db: Database, at: { workspaceId: string; events: number }): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`create table if not exists chaos_gifts (gift integer primary key)`)
    await tx.run(sql`update workspaces set plan = 'team' where id = ${at.workspaceId}`)
    await tx.run(
      sql`update projects set config_version = config_version + 1, config_changed_at = now() where workspace_id = ${at.workspaceId}`,
    )
    await tx.run(sql`
      insert into monthly_usage (workspace_id, month, events)
      values (${at.workspaceId}, date_trunc('month', now() at time zone 'utc')::date, ${at.events})
      on conflict (workspace_id, month) do update
         set events = excluded.events
    `)
  })
}

/** Makes room for more events, once for each gift however often this is tried. */
export async function giveRoom(db: Db, at: { workspaceId: string; gift: number; events: number }): Promise<void> {
  await db.run(sql`
    with given as (
      insert into chaos_gifts (gift)
      values (${at.gift})
      on conflict (gift) do nothing
      returning gift
    )
    update monthly_usage
       set events = events - ${at.events}
     where workspace_id = ${at.workspaceId}
       and exists (select 1 from given)
  `)
}

/** The events that count in the current month. */
export async function usedEvents(db: Db, at: { workspaceId: string }): Promise<number> {
  const row = await db.maybe<{ events: number }>(sql`
    select events
      from monthly_usage
     where workspace_id = ${at.workspaceId}
     order by month desc
     limit 1
  `)
  return row?.events ?? 0
}

export async function countStored(db: Db, at: { workspaceId: string }): Promise<number> {
  const { stored } = await db.one<{ stored: number }>(sql`
    select count(*) as stored
      from submissions
     where workspace_id = ${at.workspaceId}
  `)
  return stored
}

/**
 * Ends the overlaps of a rotation at this time, and revives nothing, because an overlap takes hours and a run does not. From
 * then on the endpoint files into this dataset.
 */
export async function endOverlaps(
  db: Db,
  at: { workspaceId: string; webhookId: string; dataset: string; end: Date },
): Promise<void> {
  await db.run(sql`
    with held as (
      update webhooks
         set dataset = ${at.dataset},
             previous_url_expires_at = case when previous_url_expires_at > clock_timestamp() then ${at.end}::timestamptz end,
             previous_secret_expires_at = case when previous_secret_expires_at > clock_timestamp() then ${at.end}::timestamptz end
       where workspace_id = ${at.workspaceId}
         and id = ${at.webhookId}
      returning project_id
    ), ended as (
      update credentials
         set expires_at = ${at.end}
       where workspace_id = ${at.workspaceId}
         and subject_id = ${at.webhookId}
         and expires_at > clock_timestamp()
    )
    update projects
       set config_version = config_version + 1,
           config_changed_at = clock_timestamp()
     where workspace_id = ${at.workspaceId}
       and id in (select project_id from held)
  `)
}

export type SealedValue = { readonly id: string; readonly sealed: Buffer }

const ID_COLUMNS: Readonly<Record<string, string>> = { audit_anchors: 'workspace_id' }

/** The sealed values of a column. */
export function sealedValues(db: Db, column: SealedColumn): Promise<readonly SealedValue[]> {
  const [table = '', value = ''] = column.split('.')
  const id = ID_COLUMNS[table] ?? 'id'
  return db.many<SealedValue>({
    strings: [`select ${id}::text as id, ${value} as sealed from ${table} where ${value} is not null`],
    values: [],
  })
}

/** The text of `scheduled_for` and `fired_at` of each run of a cron trigger, in the order of the runs. */
export type CronRun = { readonly scheduled_for: string; readonly fired_at: string }

export function cronRuns(db: Db, at: { workspaceId: string; dataset: string }): Promise<readonly CronRun[]> {
  return db.many<CronRun>(sql`
    select s.body::json ->> 'scheduled_for' as scheduled_for, s.body::json ->> 'fired_at' as fired_at
      from records r
      join submissions s
        on s.workspace_id = r.workspace_id
       and s.project_id = r.project_id
       and s.id = r.submission_id
     where r.workspace_id = ${at.workspaceId}
       and r.dataset = ${at.dataset}
     order by r.id
  `)
}

/** Ends the claims of every process on its sources, as the minute of their leases would. */
export async function expireSourceClaims(db: Db, at: { workspaceId: string }): Promise<void> {
  await db.run(sql`
    update sources
       set lease_until = null,
           due_at = least(due_at, now())
     where workspace_id = ${at.workspaceId}
  `)
}

/** The time until which each lane is granted to nobody. Lanes that may be granted at any time are left out. */
export function waitingLanes(
  db: Db,
  at: { workspaceId: string },
): Promise<readonly { readonly destination_id: string; readonly waits_until: Date }[]> {
  return db.many<{ destination_id: string; waits_until: Date }>(sql`
    select destination_id, waits_until
      from lanes
     where workspace_id = ${at.workspaceId}
       and waits_until is not null
  `)
}

/** Ages the memory of open breakers until their next probes are due. The senders must be dead. */
export async function letProbesBeDue(db: Db, at: { workspaceId: string }): Promise<void> {
  await db.run(sql`
    update lanes
       set remembered_at = remembered_at - make_interval(secs => (memory #>> '{breaker,probe_in_ms}')::float8 / 1000),
           waits_until = now()
     where workspace_id = ${at.workspaceId}
       and waits_until is not null
  `)
}
