import { sql, texts, type Db, type Sql } from '../../../../platform/db.ts'
import { uuidv7Floor, uuidv7Ms } from '../../../../platform/ids.ts'
import { MARGIN_MS } from '../../waits/margin.ts'
import type { InstanceRun } from '../../instance-run.ts'
import type { InstanceKey, Stop, Wait } from '../../instance.ts'

type Written = { readonly run: InstanceRun; readonly leaseUntil: Date }

/**
 * One statement: the cursors and states of many instances, with everything that their steps made. An instance whose claim was lost
 * changes nothing, and nothing is inserted for it. Returns the ids of those that it changed.
 */
export async function settleRuns(
  db: Db,
  { runs, now, leaseUntil }: { readonly runs: readonly InstanceRun[]; readonly now: Date; readonly leaseUntil: Date },
): Promise<ReadonlySet<string>> {
  const written = runs.map((run) => ({ run, leaseUntil }))
  const steps = written.some(({ run }) => run.stepRuns.length > 0)
  const deliveries = written.some(({ run }) => run.deliveries.length > 0)
  const aiRuns = written.some(({ run }) => run.aiRuns.length > 0)
  // oxlint-disable-next-line house/tenant-statement -- instances of all workspaces, each by its key
  const rows = await db.many<{ id: string }>(sql`
    with moved as (${moveInstances(written, now)})
    ${steps ? sql`, new_steps as (${insertStepRuns(runs)})` : sql``}
    ${deliveries ? sql`, new_deliveries as (${insertDeliveries(runs, now)})` : sql``}
    ${aiRuns ? sql`, new_runs as (${insertAiRuns(runs, now)})` : sql``}
    select id from moved
  `)
  return new Set(rows.map(({ id }) => id))
}

function moveInstances(written: readonly Written[], now: Date): Sql {
  const rows = written.map(({ run, leaseUntil }) => ({ key: run.instance, run, ...placeOf(run.stop, leaseUntil) }))
  const waits = rows.some(({ event }) => event !== undefined)
  return sql`
    update workflow_instances i
       set state = g.state, cursor = g.cursor, attempt = g.attempt, context = g.context::json, due_at = g.due_at, lease_until = g.lease_until,
           wait_kind = g.wait_kind, wait_id = g.wait_id, wait_dataset = g.wait_dataset, wait_path = g.wait_path,
           wait_key = decode(g.wait_key, 'hex'), wait_conditions = g.wait_conditions::json,
           ${waits ? SINCE : NO_SINCE}
           error = g.error::json, updated_at = ${now}, ended_at = g.ended_at
      from (
             select unnest(${rows.map(({ key }) => key.workspace_id)}::uuid[]) as workspace_id,
                    unnest(${rows.map(({ key }) => key.project_id)}::uuid[]) as project_id,
                    unnest(${rows.map(({ key }) => key.id)}::uuid[]) as id,
                    unnest(${rows.map(({ key }) => key.fence)}::int[]) as fence,
                    unnest(${rows.map(({ state }) => state)}::text[]) as state,
                    unnest(${rows.map(({ run }) => run.cursor)}::int[]) as cursor,
                    unnest(${rows.map(({ run }) => run.attempt)}::smallint[]) as attempt,
                    unnest(${texts(rows.map(({ run }) => run.memoryText))}) as context,
                    unnest(${rows.map(({ due }) => due)}::timestamptz[]) as due_at,
                    unnest(${rows.map(({ lease }) => lease)}::timestamptz[]) as lease_until,
                    unnest(${rows.map(({ wait }) => wait?.kind ?? null)}::text[]) as wait_kind,
                    unnest(${rows.map(({ waitId }) => waitId)}::uuid[]) as wait_id,
                    unnest(${rows.map(({ event }) => event?.dataset ?? null)}::text[]) as wait_dataset,
                    unnest(${rows.map(({ event }) => event?.path ?? null)}::text[]) as wait_path,
                    unnest(${rows.map(({ event }) => event?.key.toString('hex') ?? null)}::text[]) as wait_key,
                    unnest(${texts(rows.map(({ event }) => (event === undefined ? null : JSON.stringify(event.conditions))))}) as wait_conditions,
                    unnest(${rows.map(({ key, event }) => (event?.looksBack === true ? lookBackFrom(key) : null))}::uuid[]) as wait_from,
                    unnest(${rows.map(({ event }) => (event?.looksBack === true ? event.past.join(',') : null))}::text[]) as wait_past,
                    unnest(${texts(rows.map(({ error }) => error))}) as error,
                    unnest(${rows.map(({ ended }) => (ended ? now : null))}::timestamptz[]) as ended_at
           ) g
     where i.workspace_id = g.workspace_id
       and i.project_id = g.project_id
       and i.id = g.id
       and i.fence = g.fence
       and i.state = 'running'
    returning i.workspace_id, i.project_id, i.id, i.record_id, i.dataset, i.hops, i.root_id`
}

/** An instance that started before it stored its snapshot waits from now on. */
const SINCE: Sql = sql`
           wait_since = case when g.wait_key is null then null
                             when g.wait_from is not null and i.start_since is not null then i.start_since
                             else pg_current_snapshot()::text || ' ' || pg_current_xact_id()::text end,
           wait_from = case when i.start_since is not null then g.wait_from end,
           wait_past = g.wait_past,`
const NO_SINCE: Sql = sql`
           wait_since = null, wait_from = null, wait_past = null,`

/** No record that the start of the instance did not see has an earlier id. */
const lookBackFrom = ({ id }: InstanceKey): string => uuidv7Floor(uuidv7Ms(id) - MARGIN_MS)

type Placed = {
  readonly state: string
  readonly due: Date | null
  readonly lease: Date | null
  readonly wait: Wait | null
  readonly waitId: string | null
  readonly event: Extract<Wait, { kind: 'event' }> | undefined
  readonly error: string | null
  readonly ended: boolean
}

const NOWHERE: Omit<Placed, 'state'> = {
  due: null,
  lease: null,
  wait: null,
  waitId: null,
  event: undefined,
  error: null,
  ended: false,
}

/** The columns of a stop. A run that has another event to store retains its claim. */
function placeOf(stop: Stop, leaseUntil: Date): Placed {
  switch (stop.kind) {
    case 'emitting':
      return { ...NOWHERE, state: 'running', due: new Date(0), lease: leaseUntil }
    case 'ended':
      return {
        ...NOWHERE,
        state: stop.state,
        error: stop.error === null ? null : JSON.stringify(stop.error),
        ended: true,
      }
    case 'parked': {
      const { wait } = stop
      return {
        ...NOWHERE,
        state: stop.state,
        due: new Date(stop.due_at),
        wait,
        waitId: wait === null || wait.kind === 'event' ? null : wait.id,
        event: wait?.kind === 'event' ? wait : undefined,
      }
    }
  }
}

type Of<Row> = readonly (Row & { readonly key: InstanceKey })[]

function rowsOf<Row extends object>(runs: readonly InstanceRun[], pick: (run: InstanceRun) => readonly Row[]): Of<Row> {
  return runs.flatMap((run) => pick(run).map((row) => ({ ...row, key: run.instance })))
}

const jsonOf = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value))

/** A row that shows a step as waiting is completed when the step ends. */
function insertStepRuns(runs: readonly InstanceRun[]): Sql {
  const rows = rowsOf(runs, (run) => run.stepRuns)
  return sql`
    insert into workflow_step_runs (workspace_id, project_id, instance_id, seq, step_id, type, attempt, state, input, output, error, started_at, ended_at)
    select m.workspace_id, m.project_id, m.id, s.seq, s.step_id, s.type, s.attempt, s.state, s.input::json, s.output::json, s.error::json,
           s.started_at, s.ended_at
      from (
             select unnest(${rows.map(({ key }) => key.id)}::uuid[]) as instance_id,
                    unnest(${rows.map(({ seq }) => seq)}::int[]) as seq,
                    unnest(${rows.map((row) => row.step_id)}::text[]) as step_id,
                    unnest(${rows.map((row) => row.type)}::text[]) as type,
                    unnest(${rows.map((row) => row.attempt)}::smallint[]) as attempt,
                    unnest(${rows.map((row) => row.state)}::text[]) as state,
                    unnest(${texts(rows.map((row) => jsonOf(row.input)))}) as input,
                    unnest(${texts(rows.map((row) => jsonOf(row.output)))}) as output,
                    unnest(${texts(rows.map((row) => jsonOf(row.error)))}) as error,
                    unnest(${rows.map((row) => new Date(row.started_at))}::timestamptz[]) as started_at,
                    unnest(${rows.map((row) => (row.ended_at === null ? null : new Date(row.ended_at)))}::timestamptz[]) as ended_at
           ) s
      join moved m on m.id = s.instance_id
    on conflict (workspace_id, project_id, instance_id, seq) do update
       set state = excluded.state, output = excluded.output, error = excluded.error, ended_at = excluded.ended_at`
}

function insertDeliveries(runs: readonly InstanceRun[], now: Date): Sql {
  const rows = rowsOf(runs, (run) => run.deliveries)
  return sql`
    insert into deliveries (workspace_id, project_id, id, record_id, destination_id, state, pause_reason, next_attempt_at, created_at, updated_at,
                            order_key, order_seq)
    select m.workspace_id, m.project_id, d.id, d.record_id, d.destination_id,
           case when d.pause_reason is null then 'pending' else 'paused' end, d.pause_reason,
           case when d.pause_reason is null then ${now}::timestamptz end, ${now}, ${now},
           d.order_key, case when d.order_key is not null then nextval('deliveries_order') end
      from (
             select unnest(${rows.map(({ key }) => key.id)}::uuid[]) as instance_id,
                    unnest(${rows.map(({ id }) => id)}::uuid[]) as id,
                    unnest(${rows.map((row) => row.record_id)}::uuid[]) as record_id,
                    unnest(${rows.map((row) => row.destination_id)}::uuid[]) as destination_id,
                    unnest(${rows.map((row) => row.pause_reason)}::text[]) as pause_reason,
                    unnest(${rows.map((row) => row.order_key)}::uuid[]) as order_key
           ) d
      join moved m on m.id = d.instance_id`
}

function insertAiRuns(runs: readonly InstanceRun[], now: Date): Sql {
  const rows = rowsOf(runs, (run) => run.aiRuns)
  return sql`
    insert into ai_runs (workspace_id, project_id, id, agent_id, instance_id, step_id, record_id, dataset, hops, root_id, due_at, request, created_at, updated_at)
    select m.workspace_id, m.project_id, a.id, a.agent_id, m.id, a.step_id, m.record_id, m.dataset, m.hops, coalesce(m.root_id, m.record_id), ${now}, a.request::json, ${now}, ${now}
      from (
             select unnest(${rows.map(({ key }) => key.id)}::uuid[]) as instance_id,
                    unnest(${rows.map(({ id }) => id)}::uuid[]) as id,
                    unnest(${rows.map((row) => row.agent_id)}::uuid[]) as agent_id,
                    unnest(${rows.map((row) => row.step_id)}::text[]) as step_id,
                    unnest(${texts(rows.map((row) => jsonOf(row.request)))}) as request
           ) a
      join moved m on m.id = a.instance_id`
}
