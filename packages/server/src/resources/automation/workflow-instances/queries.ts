import type { INSTANCE_STATES, STORED_INSTANCE_STATES } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }
type StoredState = (typeof STORED_INSTANCE_STATES)[number]
type StepErrorRow = { readonly step_id?: string; readonly reason: string; readonly message: string }

export type InstanceRow = {
  readonly id: string
  readonly workflow_id: string
  readonly workflow: string | null
  readonly version: number
  readonly record_id: string
  readonly dataset: string
  readonly started_by: 'record' | 'hand'
  readonly state: StoredState
  readonly due_at: Date | null
  readonly wait_kind: 'event' | 'delivery' | 'ai_run' | null
  readonly wait_id: string | null
  readonly wait_dataset: string | null
  readonly wait_conditions: readonly Record<string, unknown>[] | null
  readonly paused_at: Date | null
  readonly error: StepErrorRow | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly ended_at: Date | null
}

const columns: Sql = sql`
  i.id, i.workflow_id, w.name as workflow, i.version, i.record_id, i.dataset, i.started_by, i.state, i.due_at, i.wait_kind, i.wait_id,
  i.wait_dataset, i.wait_conditions, i.paused_at, i.error, i.created_at, i.updated_at, i.ended_at
`
const withWorkflow: Sql = sql`
  workflow_instances i
  left join workflows w
    on w.workspace_id = i.workspace_id
   and w.project_id = i.project_id
   and w.id = i.workflow_id
`

export type InstanceFilter = {
  readonly workflowId: string | null
  readonly recordIds: readonly string[] | null
  readonly states: readonly (typeof INSTANCE_STATES)[number][] | null
}

/** Newest first; `before` is the id to continue after. */
export function listInstances(
  db: Db,
  at: At & InstanceFilter & { before: string | null; limit: number },
): Promise<readonly InstanceRow[]> {
  return db.many<InstanceRow>(sql`
    select ${columns}
      from ${withWorkflow}
     where i.workspace_id = ${at.workspaceId}
       and i.project_id = ${at.projectId}
       ${at.before === null ? sql`` : sql`and i.id < ${at.before}`}
       ${at.workflowId === null ? sql`` : sql`and i.workflow_id = ${at.workflowId}`}
       ${at.recordIds === null ? sql`` : sql`and i.record_id = any (${at.recordIds}::uuid[])`}
       ${at.states === null ? sql`` : sql`and case when i.paused_at is null then i.state else 'paused' end = any (${at.states}::text[])`}
     order by i.id desc
     limit ${at.limit}
  `)
}

export function findInstance(db: Db, at: At & { id: string }): Promise<InstanceRow | undefined> {
  return db.maybe<InstanceRow>(sql`
    select ${columns}
      from ${withWorkflow}
     where i.workspace_id = ${at.workspaceId}
       and i.project_id = ${at.projectId}
       and i.id = ${at.id}
  `)
}

export type StepRunRow = {
  readonly seq: number
  readonly step_id: string
  readonly type: 'delay' | 'wait_for_event' | 'branch' | 'deliver' | 'emit_event' | 'run_agent'
  readonly attempt: number
  readonly state: 'waiting' | 'succeeded' | 'failed' | 'skipped'
  readonly input: unknown
  readonly output: unknown
  readonly error: StepErrorRow | null
  readonly started_at: Date
  readonly ended_at: Date | null
}

/** The newest attempts at an instance's steps, in the order in which they ran. */
export function listStepRuns(db: Db, at: At & { id: string; limit: number }): Promise<readonly StepRunRow[]> {
  return db.many<StepRunRow>(sql`
    select seq, step_id, type, attempt, state, input, output, error, started_at, ended_at
      from (
             select seq, step_id, type, attempt, state, input, output, error, started_at, ended_at
               from workflow_step_runs
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and instance_id = ${at.id}
              order by seq desc
              limit ${at.limit}
           ) newest
     order by seq
  `)
}

/** An instance that a person starts. */
export async function insertInstance(
  db: Db,
  row: At & {
    id: string
    workflowId: string
    version: number
    recordId: string
    dataset: string
    hops: number
    now: Date
  },
): Promise<void> {
  await db.run(sql`
    insert into workflow_instances (workspace_id, project_id, id, workflow_id, version, record_id, dataset, started_by, hops, root_id, due_at,
                                    created_at, updated_at, start_since)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.workflowId}, ${row.version}, ${row.recordId}, ${row.dataset}, 'hand',
            ${row.hops}, ${row.recordId}, ${row.now}, ${row.now}, ${row.now},
            pg_current_snapshot()::text || ' ' || pg_current_xact_id()::text)
  `)
}

/** Raises the fence, so that an earlier claim no longer changes the instance. */
const released: Sql = sql`
  fence = fence + 1, lease_until = null, wait_kind = null, wait_id = null, wait_dataset = null, wait_key = null, wait_conditions = null,
  wait_from = null, wait_past = null, paused_at = null
`

type Which = { readonly id: string } | { readonly workflowId: string }

const which = (of: Which): Sql => ('id' in of ? sql`and id = ${of.id}` : sql`and workflow_id = ${of.workflowId}`)

/** Ends instances that have not ended, with the AI runs of their steps. Returns how many instances. */
export async function cancelInstances(db: Db, at: At & Which & { now: Date }): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    with ended as (
           update workflow_instances
              set state = 'cancelled', due_at = null, ${released}, updated_at = ${at.now}, ended_at = ${at.now}
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              ${which(at)}
              and state in ('pending', 'running', 'sleeping', 'waiting', 'retrying')
           returning id
         ),
         steps as (
           update workflow_step_runs
              set state = 'skipped', ended_at = ${at.now}
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              and instance_id in (select id from ended)
              and state = 'waiting'
         ),
         runs as (
           update ai_runs
              set state = 'cancelled', fence = fence + 1, due_at = null, lease_until = null, updated_at = ${at.now}, ended_at = ${at.now}
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              and instance_id in (select id from ended)
              and state in ('queued', 'running')
         )
    select count(*)::int as count from ended
  `)
  return count
}

/** Deletes a batch of a plan's instances that ended before this time, with their steps. Returns how many instances. */
export async function deleteEndedInstances(db: Db, at: { plan: string; before: Date; limit: number }): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    with piece as materialized (
           select i.workspace_id, i.project_id, i.id
             from workspaces w
             join workflow_instances i on i.workspace_id = w.id
            where w.plan = ${at.plan}
              and i.ended_at < ${at.before}
            limit ${at.limit}
         ),
         steps as (
           delete from workflow_step_runs s
            using piece p
            where s.workspace_id = p.workspace_id
              and s.project_id = p.project_id
              and s.instance_id = p.id
         ),
         gone as (
           delete from workflow_instances i
            using piece p
            where i.workspace_id = p.workspace_id
              and i.project_id = p.project_id
              and i.id = p.id
           returning i.id
         )
    select count(*)::int as count from gone
  `)
  return count
}

/** Makes a failed instance due at the step that failed. Returns whether it had failed. */
export async function retryInstance(db: Db, at: At & { id: string; now: Date }): Promise<boolean> {
  const count = await db.run(sql`
    update workflow_instances
       set state = 'pending', attempt = 0, due_at = ${at.now}, ${released}, error = null, updated_at = ${at.now}, ended_at = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and state = 'failed'
  `)
  return count === 1
}
