import { decodeId, encodeId } from '@postroad/contract'
import { fromOrigin } from '../../src/pipeline/capture/from-origin.ts'
import { sql } from '../../src/platform/db.ts'
import { aName } from './fixtures.ts'
import { aWorld, type Answer, type World } from './harness.ts'

type Members = Readonly<Record<string, unknown>>

export type StepRunRow = {
  readonly step_id: string
  readonly state: string
  readonly output: Answer['body']
  readonly error: Answer['body']
}
export type InstanceRow = {
  readonly id: string
  readonly state: string
  readonly error: Answer['body']
  readonly due_at: Date | null
  readonly paused_at: Date | null
  readonly hops: number
}

const at = (world: World): { workspaceId: string; projectId: string } => ({
  workspaceId: decodeId('workspace', world.installed.workspace.id) ?? '',
  projectId: decodeId('project', world.installed.project.id) ?? '',
})

/** An active workflow with one version, as its room stores it. Returns its id. */
export async function storeWorkflow(
  world: World,
  { dataset, steps, conditions = [] }: { dataset: string; steps: readonly Members[]; conditions?: readonly Members[] },
): Promise<string> {
  const { database, uuid, configChanged } = world.app.deps
  const { workspaceId, projectId } = at(world)
  const id = uuid()
  const now = new Date(world.clock.now())
  const name = aName('workflow')
  await database.run(sql`
    insert into workflows (workspace_id, project_id, id, name, slug, active, version, entry_dataset, entry_conditions, created_at, updated_at)
    values (${workspaceId}, ${projectId}, ${id}, ${name}, ${name}, true, 1, ${dataset}, ${JSON.stringify(conditions)}, ${now}, ${now})
  `)
  await database.run(sql`
    insert into workflow_versions (workspace_id, project_id, workflow_id, version, definition, created_at)
    values (${workspaceId}, ${projectId}, ${id}, 1, ${JSON.stringify({ name, steps })}, ${now})
  `)
  await database.run(sql`update projects set config_version = config_version + 1 where id = ${projectId}`)
  configChanged(projectId)
  return id
}

/** Stores an event of a source; returns the public id of its record. */
export async function storeEvent(
  world: World,
  { dataset, data, hops = 0 }: { dataset: string; data: unknown; hops?: number },
): Promise<string> {
  const [outcome] = await world.app.acceptAll(
    [
      fromOrigin({
        ...at(world),
        dataset,
        origin: { kind: 'source', id: world.app.deps.uuid() },
        text: JSON.stringify(data),
        receivedAt: world.clock.now(),
        hops,
      }),
    ],
    async () => undefined,
  )
  if (outcome?.kind !== 'stored') throw new Error(`The event was not stored: ${JSON.stringify(outcome)}`)
  return encodeId('record', outcome.event.records[0]?.id ?? '')
}

export function instancesOf(world: World, workflowId: string): Promise<readonly InstanceRow[]> {
  return world.app.deps.database.many<InstanceRow>(sql`
    select id, state, error, due_at, paused_at, hops from workflow_instances where workflow_id = ${workflowId} order by id
  `)
}

export function stepRunsOf(world: World, instanceId: string): Promise<readonly StepRunRow[]> {
  return world.app.deps.database.many<StepRunRow>(sql`
    select step_id, state, output, error from workflow_step_runs where instance_id = ${instanceId} order by seq
  `)
}

/** The only instance of a workflow once the world is idle. It must be in this state. */
export async function instanceIn(
  world: World,
  { workflowId, state }: { workflowId: string; state: string },
): Promise<InstanceRow> {
  await world.idle()
  const [instance] = await instancesOf(world, workflowId)
  if (instance?.state !== state) throw new Error(`The instance is ${instance?.state}, not ${state}.`)
  return instance
}

/** The payloads of a dataset, in their order. */
export async function payloadsOf(world: World, dataset: string): Promise<readonly Answer['body'][]> {
  const rows = await world.app.deps.database.many<{ data: string }>(sql`
    select coalesce(r.data, s.body) as data
      from records r
      join submissions s on s.workspace_id = r.workspace_id and s.id = r.submission_id
     where r.dataset = ${dataset}
     order by r.id
  `)
  return rows.map((row) => JSON.parse(row.data))
}

/** A second node that runs workflows, for as long as the work takes. Its clock follows the one of the world. */
export async function withEngine<T>(world: World, use: () => Promise<T>): Promise<T> {
  const engine = await aWorld({ beside: world, env: { ROLES: 'work' }, loops: ['workflows.run'] })
  const advance = world.clock.advance.bind(world.clock)
  world.clock.advance = (ms) => {
    advance(ms)
    engine.clock.set(Math.max(engine.clock.now(), world.clock.now()))
  }
  engine.clock.set(world.clock.now())
  try {
    return await use()
  } finally {
    world.clock.advance = advance
    await engine.stop()
  }
}
