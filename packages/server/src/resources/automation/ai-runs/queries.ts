import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type RunError = { readonly reason: string; readonly error: string }

export type AiRunRow = {
  readonly id: string
  readonly agent_id: string
  readonly trigger_id: string | null
  readonly instance_id: string | null
  readonly step_id: string | null
  readonly record_id: string
  readonly dataset: string
  readonly hops: number
  readonly state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'skipped'
  readonly attempt: number
  readonly due_at: Date | null
  readonly paused_at: Date | null
  readonly output: unknown
  readonly error: RunError | null
  readonly input_tokens: number
  readonly output_tokens: number
  /** PostgreSQL returns a bigint as text. */
  readonly cost_micros: number | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly ended_at: Date | null
}

const columns: Sql = sql`
  id, agent_id, trigger_id, instance_id, step_id, record_id, dataset, hops, state, attempt, due_at, paused_at, output, error,
  input_tokens::float8 as input_tokens, output_tokens::float8 as output_tokens, cost_micros::float8 as cost_micros,
  created_at, started_at, ended_at
`

export type RunFilter = {
  readonly agentId: string | null
  readonly triggerId: string | null
  readonly recordIds: readonly string[] | null
  readonly state: AiRunRow['state'] | null
  /** Only ids after this one. */
  readonly from: string | null
}

/** Newest first; `before` is the id to continue after. */
export function listRuns(
  db: Db,
  at: At & RunFilter & { before: string | null; limit: number },
): Promise<readonly AiRunRow[]> {
  return db.many<AiRunRow>(sql`
    select ${columns}
      from ai_runs
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       ${at.agentId === null ? sql`` : sql`and agent_id = ${at.agentId}`}
       ${at.triggerId === null ? sql`` : sql`and trigger_id = ${at.triggerId}`}
       ${at.recordIds === null ? sql`` : sql`and record_id = any (${at.recordIds}::uuid[])`}
       ${at.state === null ? sql`` : sql`and state = ${at.state}`}
       ${at.from === null ? sql`` : sql`and id > ${at.from}`}
       ${at.before === null ? sql`` : sql`and id < ${at.before}`}
     order by id desc
     limit ${at.limit}
  `)
}

export function findRun(db: Db, at: At & { id: string }): Promise<AiRunRow | undefined> {
  return db.maybe<AiRunRow>(sql`
    select ${columns}
      from ai_runs
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

export type RunStepRow = {
  readonly seq: number
  readonly kind: 'model' | 'tool'
  readonly tool: string | null
  readonly call_id: string | null
  readonly input: unknown
  readonly output: unknown
  readonly error: string | null
  readonly content: unknown
  readonly input_tokens: number
  readonly output_tokens: number
  readonly at: Date
}

/** The steps of a run, in their order. */
export function listRunSteps(db: Db, at: At & { runId: string }): Promise<readonly RunStepRow[]> {
  return db.many<RunStepRow>(sql`
    select seq, kind, tool, call_id, input, output, error, content, input_tokens, output_tokens, at
      from ai_run_steps
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and run_id = ${at.runId}
     order by seq
  `)
}

/** A run for which only this process may commit anything, until the lease ends. */
export type ClaimedRun = AiRunRow & {
  readonly workspace_id: string
  readonly project_id: string
  readonly fence: number
  readonly has_slot: boolean
  readonly root_id: string
  readonly request: unknown
}

/** The most runs of one workspace in one claim. */
const OF_WORKSPACE = 2

/**
 * Claims due runs, and runs whose lease ended because their process died. Workspaces take turns: the one with the fewest runs
 * under way is first, and none gets more than `ofWorkspaceMax`, so that none waits behind the runs of another. `underWay` has
 * the workspace of each run of this process.
 */
export function claimRuns(
  db: Db,
  at: { now: Date; until: Date; limit: number; underWay: readonly string[]; ofWorkspaceMax: number },
): Promise<readonly ClaimedRun[]> {
  const { now, until, limit, underWay, ofWorkspaceMax } = at
  return db.many<ClaimedRun>(sql`
    with recursive waiting as (
           (select workspace_id
              from ai_runs
             where due_at is not null
               and paused_at is null
             order by workspace_id
             limit 1)
            union all
           select (select r.workspace_id
                     from ai_runs r
                    where r.due_at is not null
                      and r.paused_at is null
                      and r.workspace_id > w.workspace_id
                    order by r.workspace_id
                    limit 1)
             from waiting w
            where w.workspace_id is not null
         ),
         offered as materialized (
           select r.workspace_id, r.project_id, r.id, r.due_at
             from waiting w
            cross join lateral (
                   select workspace_id, project_id, id, due_at
                     from ai_runs
                    where workspace_id = w.workspace_id
                      -- A commit that began before a suspension may add a run after it.
                      and exists (select 1 from workspaces s where s.id = w.workspace_id and not s.halted)
                      and due_at <= ${now}
                      and paused_at is null
                      and (lease_until is null or lease_until <= ${now})
                    order by due_at
                    limit ${OF_WORKSPACE}
                      for update skip locked
                  ) r
         ),
         placed as (
           select workspace_id, project_id, id, due_at,
                  row_number() over (partition by workspace_id order by due_at)
                  + (select count(*) from unnest(${underWay}::uuid[]) u (id) where u.id = o.workspace_id) as place
             from offered o
         ),
         due as (
           select workspace_id, project_id, id
             from placed
            where place <= ${ofWorkspaceMax}
            order by place, due_at
            limit ${limit}
         )
    update ai_runs r
       set state = 'running', fence = r.fence + 1, attempt = r.attempt + 1, lease_until = ${until}, updated_at = ${now},
           started_at = coalesce(r.started_at, ${now})
      from due
     where r.workspace_id = due.workspace_id
       and r.project_id = due.project_id
       and r.id = due.id
    returning r.workspace_id, r.project_id, r.fence, r.has_slot, r.request, coalesce(r.root_id, r.record_id) as root_id, ${claimedColumns}
  `)
}

const claimedColumns: Sql = sql`
  r.id, r.agent_id, r.trigger_id, r.instance_id, r.step_id, r.record_id, r.dataset, r.hops, r.state, r.attempt, r.due_at, r.paused_at,
  r.output, r.error, r.input_tokens::float8 as input_tokens, r.output_tokens::float8 as output_tokens,
  r.cost_micros::float8 as cost_micros, r.created_at, r.started_at, r.ended_at
`

export type Claim = Pick<ClaimedRun, 'workspace_id' | 'project_id' | 'id' | 'fence'>

/** With a condition on the workspace, selects the run as this process claimed it. */
const held = (claim: Claim): Sql => sql`
  project_id = ${claim.project_id}
  and id = ${claim.id}
  and fence = ${claim.fence}
  and state = 'running'
  and paused_at is null
`

/** Extends the lease. False: another process has the run, or it was canceled or paused, so nothing of it may be committed. */
export async function holdRun(db: Db, claim: Claim, { until, now }: { until: Date; now: Date }): Promise<boolean> {
  return (
    (await db.run(
      sql`update ai_runs set lease_until = ${until}, updated_at = ${now} where workspace_id = ${claim.workspace_id} and ${held(claim)}`,
    )) > 0
  )
}

export type UsedTokens = {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costMicros: number | null
}

export type NewStep = UsedTokens & {
  readonly seq: number
  readonly kind: 'model' | 'tool'
  readonly tool: string | null
  readonly callId: string | null
  readonly input: unknown
  readonly output: unknown
  readonly error: string | null
  readonly content: unknown
}

/** A model may put any character into the name of a tool. PostgreSQL cannot store U+0000 in a text. */
const storable = (text: string | null): string | null => text?.replaceAll('\0', '\uFFFD') ?? null

const json = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value))

/** Adds a step with its tokens. The key of the table refuses a second step with the same number. */
export async function insertRunStep(
  db: Db,
  claim: Claim,
  { step, agentId, now }: { step: NewStep; agentId: string; now: Date },
): Promise<void> {
  await db.run(sql`
    insert into ai_run_steps (workspace_id, project_id, run_id, seq, kind, tool, call_id, input, output, error, content,
                              input_tokens, output_tokens, at)
    values (${claim.workspace_id}, ${claim.project_id}, ${claim.id}, ${step.seq}, ${step.kind}, ${storable(step.tool)}, ${storable(step.callId)},
            ${json(step.input)}, ${json(step.output)}, ${storable(step.error)}, ${json(step.content)}, ${step.inputTokens}, ${step.outputTokens}, ${now})
  `)
  if (step.kind === 'model') await countTokens(db, claim, { used: step, agentId, now })
}

/** Counts tokens in the run and in the month of its agent. */
export async function countTokens(
  db: Db,
  claim: Claim,
  { used, agentId, now }: { used: UsedTokens; agentId: string; now: Date },
): Promise<void> {
  await db.run(sql`
    update ai_runs
       set input_tokens = input_tokens + ${used.inputTokens},
           output_tokens = output_tokens + ${used.outputTokens},
           cost_micros = case when ${used.costMicros}::float8 is null then cost_micros
                              else coalesce(cost_micros, 0) + ${used.costMicros}::float8 end
     where workspace_id = ${claim.workspace_id} and ${held(claim)}
  `)
  await db.run(sql`
    insert into ai_agent_usage (workspace_id, project_id, agent_id, month, tokens)
    values (${claim.workspace_id}, ${claim.project_id}, ${agentId}, date_trunc('month', ${now}::timestamptz at time zone 'utc')::date,
            ${used.inputTokens + used.outputTokens})
    on conflict (workspace_id, project_id, agent_id, month) do update set tokens = ai_agent_usage.tokens + excluded.tokens
  `)
}

export type RunEnd = {
  readonly state: 'succeeded' | 'failed' | 'skipped'
  readonly output: unknown
  readonly error: RunError | null
}

/** Ends a run, and wakes the workflow instance that waits for it. False: another process has the run. */
export async function endRun(db: Db, claim: Claim, { end, now }: { end: RunEnd; now: Date }): Promise<boolean> {
  const ended = await db.run(sql`
    update ai_runs
       set state = ${end.state}, output = ${json(end.output)}, error = ${json(end.error)}, due_at = null, lease_until = null,
           updated_at = ${now}, ended_at = ${now}
     where workspace_id = ${claim.workspace_id} and ${held(claim)}
  `)
  if (ended > 0) await wakeInstance(db, claim, now)
  return ended > 0
}

async function wakeInstance(db: Db, { id, workspace_id, project_id }: Omit<Claim, 'fence'>, now: Date): Promise<void> {
  await db.run(sql`
    update workflow_instances
       set due_at = ${now}
     where workspace_id = ${workspace_id}
       and project_id = ${project_id}
       and id = (select instance_id from ai_runs where workspace_id = ${workspace_id} and project_id = ${project_id} and id = ${id})
       and wait_kind = 'ai_run'
       and wait_id = ${id}
  `)
}

/** Puts a run back into the queue: after a failure that may pass, or until its rate allows it. */
export async function requeueRun(
  db: Db,
  claim: Claim,
  to: { dueAt: Date; error: RunError | null; countsAttempt: boolean; hasSlot: boolean; now: Date },
): Promise<void> {
  await db.run(sql`
    update ai_runs
       set state = 'queued', due_at = ${to.dueAt}, lease_until = null, error = ${json(to.error)}, has_slot = ${to.hasSlot},
           attempt = attempt - ${to.countsAttempt ? 0 : 1}, updated_at = ${to.now}
     where workspace_id = ${claim.workspace_id} and ${held(claim)}
  `)
}

/** Takes the next slot of a trigger's rate, and returns it. */
export async function takeSlot(
  db: Db,
  at: { workspaceId: string; projectId: string; triggerId: string; now: Date },
): Promise<Date | undefined> {
  const row = await db.maybe<{ slot: Date }>(sql`
    update ai_triggers
       set next_slot_at = greatest(coalesce(next_slot_at, ${at.now}), ${at.now}) + make_interval(secs => 60.0 / max_per_minute)
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.triggerId}
    returning next_slot_at - make_interval(secs => 60.0 / max_per_minute) as slot
  `)
  return row?.slot
}

/** Cancels a run that has not ended. A new fence ends the work of its process. Returns whether it canceled one. */
export async function cancelRun(db: Db, at: At & { id: string; now: Date }): Promise<boolean> {
  const canceled = await db.run(sql`
    update ai_runs
       set state = 'cancelled', fence = fence + 1, due_at = null, lease_until = null, updated_at = ${at.now}, ended_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and state in ('queued', 'running')
  `)
  if (canceled > 0)
    await wakeInstance(db, { id: at.id, workspace_id: at.workspaceId, project_id: at.projectId }, at.now)
  return canceled > 0
}

/** Continues a run of a trigger that ended without success. Returns whether there was one. */
export async function reopenRun(db: Db, at: At & { id: string; now: Date }): Promise<boolean> {
  const reopened = await db.run(sql`
    update ai_runs
       set state = 'queued', fence = fence + 1, attempt = 0, due_at = ${at.now}, error = null, updated_at = ${at.now}, ended_at = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and state in ('failed', 'cancelled', 'skipped')
       and instance_id is null
  `)
  return reopened > 0
}

/** Removes the model's answers after the last tool call, so that a retry asks again. */
export async function forgetLastAnswers(db: Db, at: At & { runId: string }): Promise<void> {
  await db.run(sql`
    delete from ai_run_steps
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and run_id = ${at.runId}
       and seq > (
             select coalesce(max(seq), -1)
               from ai_run_steps
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and run_id = ${at.runId}
                and kind = 'tool'
           )
  `)
}

/** Pauses the runs of a workspace, or lets them continue. A run under way commits nothing more. */
export async function setRunsPaused(
  db: Db,
  { workspaceId, pausedAt }: { workspaceId: string; pausedAt: Date | null },
): Promise<void> {
  await db.run(sql`
    update ai_runs
       set paused_at = ${pausedAt}, fence = fence + 1, lease_until = null,
           attempt = case when state = 'running' then greatest(0, attempt - 1) else attempt end
     where workspace_id = ${workspaceId}
       and state in ('queued', 'running')
       and (paused_at is null) = ${pausedAt !== null}
  `)
}

/** When a run of an agent waits for a process. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const aiRunsDue: Due = (now) => sql`
  select
    from ai_runs
   where due_at <= ${now}
     and paused_at is null
     and (lease_until is null or lease_until <= ${now})
`
