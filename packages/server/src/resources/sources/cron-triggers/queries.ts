import type { OriginError } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type CronTriggerRow = {
  readonly id: string
  readonly name: string
  readonly expression: string
  readonly time_zone: string
  readonly dataset: string
  /** JSON text. */
  readonly data: string | null
  readonly enabled: boolean
  readonly next_at: Date | null
  readonly run_requested_at: Date | null
  readonly runs: number
  readonly last_run_at: Date | null
  readonly last_scheduled_for: Date | null
  readonly last_error: OriginError | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`
  id, name, expression, time_zone, dataset, data, enabled, next_at, run_requested_at, runs, last_run_at, last_scheduled_for, last_error,
  created_at, updated_at
`

export function listCronTriggers(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly CronTriggerRow[]> {
  return db.many<CronTriggerRow>(sql`
    select ${columns}
      from cron_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

/** `lock` locks the row until the transaction ends. */
export function findCronTrigger(db: Db, at: At & { id: string; lock?: boolean }): Promise<CronTriggerRow | undefined> {
  return db.maybe<CronTriggerRow>(sql`
    select ${columns}
      from cron_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

export async function countCronTriggers(db: Db, at: At): Promise<number> {
  const { n } = await db.one<{ n: number }>(sql`
    select count(*)::int as n
      from cron_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return n
}

type Written = Pick<
  CronTriggerRow,
  'id' | 'name' | 'expression' | 'time_zone' | 'dataset' | 'data' | 'enabled' | 'next_at'
>

/** Inserts a trigger; undefined when the name is taken. */
export function insertCronTrigger(db: Db, row: At & Written & { now: Date }): Promise<CronTriggerRow | undefined> {
  return db.maybe<CronTriggerRow>(sql`
    insert into cron_triggers (workspace_id, project_id, id, name, expression, time_zone, dataset, data, enabled, next_at, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.expression}, ${row.time_zone}, ${row.dataset},
            ${row.data}, ${row.enabled}, ${row.next_at}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
    returning ${columns}
  `)
}

/** Raises the fence, so that a run that has read the previous settings stores nothing. Undefined when the name is taken. */
export function updateCronTrigger(db: Db, row: At & Written & { now: Date }): Promise<CronTriggerRow | undefined> {
  return db.maybe<CronTriggerRow>(sql`
    update cron_triggers
       set name = ${row.name},
           expression = ${row.expression},
           time_zone = ${row.time_zone},
           dataset = ${row.dataset},
           data = ${row.data},
           enabled = ${row.enabled},
           next_at = ${row.next_at},
           fence = fence + 1,
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from cron_triggers other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
    returning ${columns}
  `)
}

export function requestRun(db: Db, at: At & { id: string; now: Date }): Promise<CronTriggerRow | undefined> {
  return db.maybe<CronTriggerRow>(sql`
    update cron_triggers
       set run_requested_at = coalesce(run_requested_at, ${at.now})
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
    returning ${columns}
  `)
}

export function deleteCronTrigger(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from cron_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

export type DueCronTrigger = Pick<
  CronTriggerRow,
  'id' | 'expression' | 'time_zone' | 'dataset' | 'data' | 'enabled' | 'next_at' | 'run_requested_at'
> & {
  readonly workspace_id: string
  readonly project_id: string
  readonly fence: number
  /** The workspace is suspended or closed. */
  readonly halted: boolean
}

/** Triggers whose time has come, or whose run a person requested, oldest first. */
export function listDueCronTriggers(
  db: Db,
  at: { now: Date; without: readonly string[]; limit: number },
): Promise<readonly DueCronTrigger[]> {
  // oxlint-disable-next-line house/tenant-statement -- the triggers of all workspaces
  return db.many<DueCronTrigger>(sql`
    select t.workspace_id, t.project_id, t.id, t.expression, t.time_zone, t.dataset, t.data, t.enabled, t.next_at,
           t.run_requested_at, t.fence, w.halted
      from cron_triggers t
      join workspaces w on w.id = t.workspace_id
      join projects p on p.workspace_id = t.workspace_id and p.id = t.project_id and p.deleted_at is null
     where (t.enabled or t.run_requested_at is not null)
       and least(t.next_at, t.run_requested_at) <= ${at.now}
       and t.id <> all (${at.without}::uuid[])
     order by least(t.next_at, t.run_requested_at)
     limit ${at.limit}
  `)
}

export type CronRun = {
  readonly workspaceId: string
  readonly projectId: string
  readonly id: string
  readonly fence: number
  readonly next_at: Date | null
  /** The run that stored an event; undefined: none did. */
  readonly ran: { readonly scheduledFor: Date; readonly firedAt: Date } | undefined
  readonly error: OriginError | null
}

/** Ends a run: the next time, and the outcome. 0: the trigger was changed, or another process ran it. */
export function settleCronRun(db: Db, run: CronRun): Promise<number> {
  const { ran } = run
  return db.run(sql`
    update cron_triggers
       set next_at = ${run.next_at},
           run_requested_at = null,
           fence = fence + 1,
           runs = runs + ${ran === undefined ? 0 : 1},
           last_run_at = coalesce(${ran?.firedAt ?? null}, last_run_at),
           last_scheduled_for = coalesce(${ran?.scheduledFor ?? null}, last_scheduled_for),
           last_error = ${run.error === null ? null : JSON.stringify(run.error)},
           failures = ${run.error === null ? sql`0` : sql`failures + 1`}
     where workspace_id = ${run.workspaceId}
       and project_id = ${run.projectId}
       and id = ${run.id}
       and fence = ${run.fence}
  `)
}

/** When the time of a cron trigger has come. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const cronDue: Due = (now) => sql`
  select
    from cron_triggers
   where (enabled or run_requested_at is not null)
     and least(next_at, run_requested_at) <= ${now}
`
