import type { SealedColumn } from '../src/domain/secret-place.ts'
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

/** For the plant `count-apart`. */
export async function countOne(db: Db, at: { workspaceId: string }): Promise<void> {
  await db.run(sql`
    update monthly_usage
       set events = events + 1
     where workspace_id = ${at.workspaceId}
  `)
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

/** For the plants of rotation: the credential of a replaced URL expires immediately, or never. */
export async function misend(db: Db, ends: 'at_once' | 'never'): Promise<void> {
  const body =
    ends === 'at_once'
      ? "if tg_op = 'DELETE' then return old; end if; new.expires_at := clock_timestamp(); return new;"
      : "if tg_op = 'DELETE' then return null; end if; new.expires_at := null; return new;"
  await db.run({
    strings: [`create or replace function misend() returns trigger language plpgsql as $$ begin ${body} end $$`],
    values: [],
  })
  await db.run({
    strings: [
      'create or replace trigger misend before update or delete on credentials for each row execute function misend()',
    ],
    values: [],
  })
}

/** For the plant `no-reclaim`: dead owners count as alive forever. */
export async function keepOwners(db: Db): Promise<void> {
  await db.run(sql`
    create or replace rule keep_owners as
        on delete to lane_owners
        do instead nothing
  `)
}

/** For the plant `no-reclaim`. */
export async function extendOwners(db: Db): Promise<void> {
  await db.run(sql`
    update lane_owners
       set lease_until = 'infinity'
  `)
}

/** For the plant `no-fence`: takes lanes from their owners while they send. */
export async function takeLanes(db: Db): Promise<void> {
  await db.run(sql`
    update lanes
       set owner = null,
           fence = fence + 1
     where owner is not null
  `)
}

/** For the plant `suspend-in-name`: a suspension is acknowledged but not stored. */
export async function forgetSuspensions(db: Db): Promise<void> {
  await beforeEach(db, {
    name: 'forget_suspension',
    table: 'workspaces',
    on: 'update',
    body: 'new.suspended_at := null; return new;',
  })
}

/** For the plant `no-caps`. */
export async function liftCaps(db: Db): Promise<void> {
  await beforeEach(db, {
    name: 'lift_caps',
    table: 'destinations',
    on: 'insert',
    body: 'new.max_in_flight := 1000; new.rate_count := null; new.rate_per := null; return new;',
  })
}

/** For the plant `no-ramp`. */
export async function closeBreakers(db: Db): Promise<void> {
  await db.run(sql`
    update lanes
       set breaker_resets = breaker_resets + 1
     where memory is not null
  `)
}

/** For the plant `no-place`: once, after its first page, a replay restarts at its beginning. */
export async function forgetPlaces(db: Db): Promise<void> {
  // On a slow machine that page may be its only one.
  const body =
    "if old.replayed = 0 and new.replayed > 0 and new.state in ('running', 'done') then new.state := 'running'; new.ended_at := null; new.cursor := null; end if; return new;"
  await beforeEach(db, { name: 'forget_place', table: 'replays', on: 'update', body })
}

/** For the plant `deaf-replay`. */
export async function heedNoPause(db: Db): Promise<void> {
  const body =
    "if new.state in ('paused', 'cancelled') then new.state := 'running'; new.pause_reason := null; new.ended_at := null; end if; return new;"
  await beforeEach(db, { name: 'heed_no_pause', table: 'replays', on: 'update', body })
}

export async function beforeEach(
  db: Db,
  { name, table, on, body }: { name: string; table: string; on: string; body: string },
): Promise<void> {
  await db.run({
    strings: [`create or replace function ${name}() returns trigger language plpgsql as $$ begin ${body} end $$`],
    values: [],
  })
  await db.run({
    strings: [`create or replace trigger ${name} before ${on} on ${table} for each row execute function ${name}()`],
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

/** For the plant `position-apart`: events are stored, and one position in ten stays before them. */
export async function losePositions(db: Db): Promise<void> {
  const body = 'if new.events > old.events and random() < 0.1 then new.position := old.position; end if; return new;'
  await beforeEach(db, { name: 'lose_position', table: 'sources', on: 'update', body })
}

/** For the plant `start-apart`: the start of one instance in ten is missing from the commit of its record. */
export async function loseStarts(db: Db): Promise<void> {
  const body = 'if random() < 0.1 then return null; end if; return new;'
  await beforeEach(db, { name: 'lose_start', table: 'workflow_instances', on: 'insert', body })
}

/** For the plant `lost-wake`: the matcher continues, and one wait in ten does not learn of its record. */
export async function loseWakes(db: Db): Promise<void> {
  const body =
    'if old.wait_key is not null and new.wait_key is null and new.due_at < old.due_at and random() < 0.1 then return null; end if; return new;'
  await beforeEach(db, { name: 'lose_wake', table: 'workflow_instances', on: 'update', body })
}

/** For the plant `cursor-apart`: an event is stored, and one cursor in ten stays before the step that emitted it. */
export async function loseCursors(db: Db): Promise<void> {
  const body =
    "if old.state = 'running' and new.ended_at is not null and random() < 0.1 then new := old; new.lease_until := null; end if; return new;"
  await beforeEach(db, { name: 'lose_cursor', table: 'workflow_instances', on: 'update', body })
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
