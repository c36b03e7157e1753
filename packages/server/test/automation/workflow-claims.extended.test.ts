import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { createDirectory } from '../../src/pipeline/directory.ts'
import { InstanceRun } from '../../src/pipeline/workflow/instance-run.ts'
import type { Instance } from '../../src/pipeline/workflow/instance.ts'
import { createLoader } from '../../src/pipeline/workflow/instances/load.ts'
import { createWorkflowStore } from '../../src/pipeline/workflow/postgres-store.ts'
import type { ClaimInput, Claimed } from '../../src/pipeline/workflow/ports.ts'
import { WORKFLOW_LIMITS, WorkflowMachine } from '../../src/pipeline/workflow/machine.ts'
import { sql } from '../../src/platform/db.ts'
import type { World } from '../stage/harness.ts'
import { whileTimePasses } from '../stage/meanwhile.ts'
import {
  instanceIn,
  instancesOf,
  payloadsOf,
  stepRunsOf,
  storeEvent,
  storeWorkflow,
  withEngine,
} from '../stage/workflow-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** How a process chooses among due instances, and how it handles one that cannot continue. */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { env: { ROLES: 'web' }, loops: [] },
)

const steps = [{ id: 'made', type: 'emit_event', dataset: 'made' }]

async function claim(input: Pick<ClaimInput, 'limit' | 'shared'>): Promise<Claimed> {
  const { deps, acceptAll } = world.app
  const store = createWorkflowStore(deps, { acceptAll, directory: createDirectory(deps), lanes: () => undefined })
  const answer = await store.claim({ ...input, lease_ms: 60_000 })
  if (answer.outcome !== 'done') throw new Error('The claim was not answered.')
  return answer.value
}

/** Due instances of a workspace. Only a claim reads them. */
async function dueInstances(of: { workspaceId: string; count: number; dueAt: number }): Promise<void> {
  const at = new Date(of.dueAt)
  await world.app.deps.database.run(sql`
    insert into workflow_instances (workspace_id, project_id, id, workflow_id, version, record_id, dataset, started_by, due_at, created_at, updated_at)
    select ${of.workspaceId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid(), 'crowd', 'record', ${at}, ${at}, ${at}
      from generate_series(1, ${of.count}::int)
  `)
}

/** The engine rests for a second after the database has refused something, so time passes until it is idle. */
const settledIn = (at: Parameters<typeof instanceIn>[1]): ReturnType<typeof instanceIn> =>
  whileTimePasses([world], instanceIn(world, at), 100)

test('after a claim that leaves instances behind, the next claim has an equal part for each workspace', async () => {
  const now = world.clock.now()
  const [crowd, single, paused] = [world.app.deps.uuid(), world.app.deps.uuid(), world.app.deps.uuid()]
  await dueInstances({ workspaceId: crowd, count: 30, dueAt: now - 60_000 })
  await dueInstances({ workspaceId: single, count: 2, dueAt: now - 1_000 })
  await dueInstances({ workspaceId: paused, count: 2, dueAt: now - 90_000 })
  await world.app.deps.database.run(
    sql`insert into workflow_pauses (workspace_id, halted_at) values (${paused}, now())`,
  )
  const workspaces = ({ instances }: Claimed): readonly number[] =>
    [crowd, single, paused].map((id) => instances.filter(({ workspace_id }) => workspace_id === id).length)
  const first = await claim({ limit: 10, shared: false })
  assert.deepEqual([workspaces(first), first.more], [[10, 0, 0], true])
  const second = await claim({ limit: 10, shared: true })
  assert.deepEqual([workspaces(second), second.more], [[5, 2, 0], true])
  // A claimed instance is not claimed again, so only the instances of the crowd are left.
  const third = await claim({ limit: 10, shared: true })
  assert.deepEqual([workspaces(third), third.more], [[5, 0, 0], true])
  const rest = await claim({ limit: 40, shared: true })
  assert.deepEqual([workspaces(rest), rest.more], [[10, 0, 0], false])
  await world.app.deps.database.run(sql`delete from workflow_instances where dataset = 'crowd'`)
  await world.app.deps.database.run(sql`delete from workflow_pauses`)
})

test('the engine asks for equal parts as long as instances are left behind', () => {
  const machine = new WorkflowMachine({ limits: WORKFLOW_LIMITS })
  const claimsIn = (effects: ReturnType<typeof machine.handle>): readonly { op: number; shared: boolean }[] =>
    effects.flatMap((effect) => (effect.type === 'claim' ? [{ op: effect.op, shared: effect.input.shared }] : []))
  const answered = (op: number, more: boolean): ReturnType<typeof claimsIn> =>
    claimsIn(machine.handle({ type: 'claimed', op, answer: { outcome: 'done', value: { instances: [], more } } }, 0))
  const [first] = claimsIn(machine.handle({ type: 'woke' }, 0))
  assert.equal(first?.shared, false)
  const [second] = answered(first.op, true)
  assert.equal(second?.shared, true)
  assert.deepEqual(answered(second.op, false), [])
  assert.deepEqual(
    claimsIn(machine.handle({ type: 'woke' }, 0)).map(({ shared }) => shared),
    [false],
  )
})

test('an instance whose result the database refuses fails where people see it, and the others of its batch complete', async () => {
  const { database } = world.app.deps
  await database.run(sql`
    create function refuse_poison() returns trigger language plpgsql as
    $$ begin if new.dataset = 'poison' and new.state = 'completed' then raise check_violation; end if; return new; end $$
  `)
  await database.run(
    sql`create trigger refuse_poison before update on workflow_instances for each row execute function refuse_poison()`,
  )
  const [poisoned, healthy] = [
    await storeWorkflow(world, { dataset: 'poison', steps }),
    await storeWorkflow(world, { dataset: 'healthy', steps }),
  ]
  await storeEvent(world, { dataset: 'poison', data: { n: 1 } })
  await storeEvent(world, { dataset: 'healthy', data: { n: 2 } })
  const failed = await withEngine(world, async () => {
    await settledIn({ workflowId: healthy, state: 'completed' })
    return settledIn({ workflowId: poisoned, state: 'failed' })
  })
  assert.deepEqual(failed.error, {
    reason: 'not_stored',
    message: 'The database refused the result of the step. The server log contains the cause.',
  })
  assert.equal((await stepRunsOf(world, failed.id)).length, 0)
  await database.run(sql`drop trigger refuse_poison on workflow_instances`)
  const retried = await world.admin('POST', `workflow-instances/${encodeId('workflowInstance', failed.id)}/retry`)
  assert.equal(retried.status, 200, JSON.stringify(retried.body))
  await withEngine(world, () => settledIn({ workflowId: poisoned, state: 'completed' }))
  assert.equal((await stepRunsOf(world, failed.id)).length, 1)
})

test('a definition that the server cannot read fails its own instances only', async () => {
  const [unreadable, healthy] = [
    await storeWorkflow(world, { dataset: 'unreadable', steps: [{ id: 'old', type: 'a_step_of_another_version' }] }),
    await storeWorkflow(world, { dataset: 'readable', steps }),
  ]
  await storeEvent(world, { dataset: 'unreadable', data: {} })
  await storeEvent(world, { dataset: 'readable', data: {} })
  await withEngine(world, async () => {
    await settledIn({ workflowId: healthy, state: 'completed' })
    const { error } = await settledIn({ workflowId: unreadable, state: 'failed' })
    assert.equal(error?.reason, 'definition_unreadable')
  })
})

const retry = (id: string) => world.admin('POST', `workflow-instances/${encodeId('workflowInstance', id)}/retry`)

test('an instance whose outputs were too large to store cannot be retried, because it would continue without them', async () => {
  const wait = {
    id: 'reply',
    type: 'wait_for_event',
    dataset: 'large_replies',
    timeout_seconds: 600,
    conditions: [{ path: 'of', equals: '{{ payload.id }}' }],
  }
  const data = { id: '{{ steps.reply.output.payload.id }}' }
  const workflowId = await storeWorkflow(world, {
    dataset: 'large',
    steps: [wait, { id: 'made', type: 'emit_event', dataset: 'from_large', data }],
  })
  await storeEvent(world, { dataset: 'large', data: { id: 1, text: 'x'.repeat(100_000) } })
  const failed = await withEngine(world, async () => {
    await settledIn({ workflowId, state: 'waiting' })
    await storeEvent(world, { dataset: 'large_replies', data: { of: 1, id: 9, text: 'x'.repeat(1_000_000) } })
    return settledIn({ workflowId, state: 'failed' })
  })
  assert.equal(failed.error.reason, 'context_too_large')
  const { status, body } = await retry(failed.id)
  assert.deepEqual([status, body.reason], [409, 'invalid_state'])
  assert.match(body.error, /too large to store.*Run the workflow on the record/)
  assert.deepEqual(await payloadsOf(world, 'from_large'), [])
})

test('an instance whose record was deleted before its first step fails for that reason, at each retry', async () => {
  const workflowId = await storeWorkflow(world, { dataset: 'forgotten', steps })
  const record = await storeEvent(world, { dataset: 'forgotten', data: {} })
  await world.app.deps.database.run(sql`delete from records where id = ${decodeId('record', record) ?? ''}`)
  const reasonNow = async (): Promise<string> =>
    (await withEngine(world, () => settledIn({ workflowId, state: 'failed' }))).error.reason
  assert.equal(await reasonNow(), 'record_not_found')
  const [instance] = await instancesOf(world, workflowId)
  assert.equal((await retry(instance?.id ?? '')).status, 200)
  assert.equal(await reasonNow(), 'record_not_found')
})

test('an instance runs its version, however many versions its process has run before', async () => {
  const workflowId = await storeWorkflow(world, { dataset: 'replaced', steps })
  const { database, uuid } = world.app.deps
  const newest = 5_002
  await database.run(sql`
    insert into workflow_versions (workspace_id, project_id, workflow_id, version, definition, created_at)
    select v.workspace_id, v.project_id, v.workflow_id, n, v.definition, v.created_at
      from workflow_versions v, generate_series(2, ${newest}::int) n
     where v.workflow_id = ${workflowId}
  `)
  const place = await database.one<{ workspace_id: string; project_id: string }>(
    sql`select workspace_id, project_id from workflows where id = ${workflowId}`,
  )
  const claimed = (version: number) => ({
    ...place,
    id: uuid(),
    fence: 1,
    workflow_id: workflowId,
    version,
    record_id: uuid(),
    dataset: 'replaced',
    hops: 0,
    root_id: world.app.deps.uuid(),
    cursor: 0,
    attempt: 0,
    context: null,
    wait_kind: null,
    wait_id: null,
  })
  const loader = createLoader(world.app.deps)
  const earlier = Array.from({ length: newest - 1 }, (_, index) => claimed(index + 1))
  while (earlier.length > 0)
    // oxlint-disable-next-line no-await-in-loop -- claim after claim
    await loader.load(earlier.splice(0, WORKFLOW_LIMITS.claimMax))
  const { instances } = await loader.load([claimed(1), claimed(newest)])
  assert.deepEqual(
    instances.map(({ program }) => program?.instructions.length),
    [1, 1],
  )
})

test('an instance gets the payload of its record although another instance of that record no longer needs it', async () => {
  const delayed = await storeWorkflow(world, { dataset: 'both', steps: [{ id: 'rest', type: 'delay', seconds: 60 }] })
  const fresh = await storeWorkflow(world, { dataset: 'both', steps })
  await storeEvent(world, { dataset: 'both', data: { n: 1 } })
  const { deps, acceptAll } = world.app
  const store = createWorkflowStore(deps, { acceptAll, directory: createDirectory(deps), lanes: () => undefined })
  const { instances } = await claim({ limit: 10, shared: false })
  const of = (workflowId: string): Instance[] => instances.filter(({ workflow }) => workflow.id === workflowId)
  const place = { destination: () => undefined, counted: false }
  const means = { now: world.clock.now(), uuid: deps.uuid, place }
  await store.settle(of(delayed).map((instance) => new InstanceRun(instance, means).advance()))
  await store.release(of(fresh))
  world.clock.advance(60_000)
  const again = await claim({ limit: 10, shared: false })
  assert.deepEqual(
    again.instances.map(({ memory }) => memory?.payload),
    [{ n: 1 }, { n: 1 }],
  )
  await store.release(again.instances)
  await deps.database.run(sql`delete from workflow_instances where dataset = 'both'`)
})

test('a claim takes only as many instances as have room in memory together, and the next claim takes others', async () => {
  await storeWorkflow(world, { dataset: 'bulky', steps })
  const count = 24
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let n = 0; n < count; n += 1)
    await storeEvent(world, { dataset: 'bulky', data: { text: 'x'.repeat(1_000_000) } })
  const ids: string[] = []
  for (let shared = false; ids.length < count; shared = !shared) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { instances, more } = await claim({ limit: 100, shared })
    ids.push(...instances.map(({ id }) => id))
    assert.ok(instances.length > 0 && instances.length <= 5, `${instances.length}`)
    assert.equal(more, ids.length < count)
  }
  assert.deepEqual([ids.length, new Set(ids).size], [count, count])
  assert.deepEqual((await claim({ limit: 100, shared: false })).instances, [])
})
