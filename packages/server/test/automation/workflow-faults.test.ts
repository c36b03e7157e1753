import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import type { WorkflowStoreParts } from '../../src/pipeline/workflow/postgres-store.ts'
import { createWorkflowStore } from '../../src/pipeline/workflow/postgres-store.ts'
import { InstanceRun } from '../../src/pipeline/workflow/instance-run.ts'
import type { Instance } from '../../src/pipeline/workflow/instance.ts'
import type { StorePort } from '../../src/pipeline/workflow/ports.ts'
import { createDirectory } from '../../src/pipeline/directory.ts'
import { sql } from '../../src/platform/db.ts'
import { cancelInstancesOf } from '../../src/resources/automation/workflow-instances/pauses/index.ts'
import { reinstateWorkspace, suspendWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import { post, submissionOf } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
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

/** A node that accepts events, beside workflow engines that the tests start and stop. */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

/** The store of a process, driven by the test: its process may die between any two calls. */
function aStore(): { readonly store: StorePort; readonly run: (instance: Instance) => InstanceRun } {
  const parts: WorkflowStoreParts = {
    acceptAll: world.app.acceptAll,
    directory: createDirectory(world.app.deps),
    lanes: () => undefined,
  }
  const means = {
    now: world.clock.now(),
    uuid: world.app.deps.uuid,
    place: { destination: () => undefined, counted: false },
  }
  return {
    store: createWorkflowStore(world.app.deps, parts),
    run: (instance) => new InstanceRun(instance, means).advance(),
  }
}

async function claimed(store: StorePort): Promise<readonly Instance[]> {
  const answer = await store.claim({ limit: 100, lease_ms: 60_000, shared: false })
  if (answer.outcome !== 'done') throw new Error('The claim was not answered.')
  return answer.value.instances
}

const emit = (id: string, dataset: string, data?: unknown) => ({
  id,
  type: 'emit_event',
  dataset,
  ...(data === undefined ? {} : { data }),
})

test('201 means that the instance is stored, even if no process runs workflows at the moment', async () => {
  const workflowId = await storeWorkflow(world, { dataset: 'first', steps: [emit('made', 'first_made')] })
  const { public_url: url } = (await world.admin('POST', 'webhooks', { name: 'first', dataset: 'first' })).body.webhook
  const answer = await post(url, '{"n":1}')
  assert.equal(answer.status, 201)
  const [instance] = await instancesOf(world, workflowId)
  assert.equal(instance?.state, 'pending')
  const { decision } = await submissionOf(world, answer.body.submission_id ?? answer.body.id)
  assert.equal(decision.starts[0].started_id, encodeId('workflowInstance', instance.id))
  await withEngine(world, () => instanceIn(world, { workflowId, state: 'completed' }))
  assert.deepEqual(await payloadsOf(world, 'first_made'), [{ n: 1 }])
})

test('a process that dies between claim and commit loses nothing, and each event is emitted once', async () => {
  const workflowId = await storeWorkflow(world, {
    dataset: 'killed',
    steps: [emit('one', 'from_killed'), emit('two', 'from_killed')],
  })
  await storeEvent(world, { dataset: 'killed', data: { n: 1 } })
  const dead = aStore()
  const stale = (await claimed(dead.store)).map(dead.run)
  assert.equal(stale.length, 1)
  assert.equal((await claimed(dead.store)).length, 0, 'nobody else takes it before its lease has expired')
  world.clock.advance(60_001)
  await withEngine(world, () => instanceIn(world, { workflowId, state: 'completed' }))
  const late = await dead.store.settle(stale)
  assert.equal(late.outcome === 'done' && late.value.lost.length, 1)
  assert.equal((await payloadsOf(world, 'from_killed')).length, 2)
})

test('a lost claim does not stop the other instances of its batch', async () => {
  const workflowId = await storeWorkflow(world, { dataset: 'batch', steps: [emit('one', 'from_batch')] })
  for (let n = 0; n < 3; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- in order
    await storeEvent(world, { dataset: 'batch', data: { n } })
  }
  const { store, run } = aStore()
  const runs = (await claimed(store)).map(run)
  const [first] = runs
  await world.app.deps.database.run(
    sql`update workflow_instances set fence = fence + 1 where id = ${first?.instance.id ?? ''}`,
  )
  const settled = await store.settle(runs)
  assert.deepEqual(settled, { outcome: 'done', value: { more: [], lost: [first?.instance.id] } })
  assert.deepEqual((await instancesOf(world, workflowId)).map(({ state }) => state).toSorted(), [
    'completed',
    'completed',
    'running',
  ])
  assert.equal((await payloadsOf(world, 'from_batch')).length, 2)
})

test('a released claim is due immediately, and a late release of an earlier claim changes nothing', async () => {
  await storeWorkflow(world, { dataset: 'returned', steps: [emit('one', 'from_returned')] })
  await storeEvent(world, { dataset: 'returned', data: {} })
  const { store } = aStore()
  const [first] = await claimed(store)
  assert.ok(first)
  await store.release([first])
  const [second] = await claimed(store)
  assert.equal(second?.fence, first.fence + 1)
  await store.release([first])
  assert.equal((await claimed(store)).length, 0)
  await store.release([second])
})

test('beyond five hops an emitted record is stored, starts nothing, and its decision reports this', async () => {
  const workflowId = await storeWorkflow(world, { dataset: 'loop', steps: [emit('again', 'loop')] })
  await storeEvent(world, { dataset: 'loop', data: { n: 1 } })
  // Ids of two processes are in the order of time only if they are from different milliseconds.
  world.clock.advance(1)
  await withEngine(world, () => world.idle())
  const instances = await instancesOf(world, workflowId)
  assert.deepEqual(
    instances.map(({ hops }) => hops),
    [0, 1, 2, 3, 4, 5],
  )
  assert.equal((await payloadsOf(world, 'loop')).length, 7)
  const [last] = await world.app.deps.database.many<{ id: string }>(
    sql`select id from submissions where origin_kind = 'workflow' and origin_id = ${instances.at(-1)?.id ?? ''}`,
  )
  const { decision } = await submissionOf(world, encodeId('submission', last?.id ?? ''))
  assert.equal(decision.starts[0].reason, 'too_many_hops')
})

const woken = async (store: StorePort): Promise<number> => {
  const answer = await store.match()
  return answer.outcome === 'done' ? answer.value.woken : -1
}

test('a record that is older than a wait does not end it, even the one that started the workflow', async () => {
  const wait = {
    id: 'next',
    type: 'wait_for_event',
    dataset: 'visits',
    conditions: [{ path: 'who', equals: '{{ payload.who }}' }],
    timeout_seconds: 600,
  }
  const workflowId = await storeWorkflow(world, { dataset: 'visits', steps: [wait, emit('seen', 'seen_again')] })
  await storeEvent(world, { dataset: 'visits', data: { who: 'ada', n: 1 } })
  const { store, run } = aStore()
  await store.settle((await claimed(store)).map(run))
  assert.equal((await instancesOf(world, workflowId))[0]?.state, 'waiting')
  assert.equal(await woken(store), 0, 'the matcher reads the first record only now')
  await storeEvent(world, { dataset: 'visits', data: { who: 'ada', n: 2 } })
  assert.equal(await woken(store), 1)
  assert.equal(await woken(store), 0, 'one record ends it once')
})

test('run_agent stores an AI run, and the commit that ends the run wakes the instance with its output', async () => {
  const agent = encodeId('aiAgent', world.app.deps.uuid())
  const workflowId = await storeWorkflow(world, {
    dataset: 'tickets',
    steps: [
      { id: 'classify', type: 'run_agent', agent, input: { text: '{{ payload.text }}' } },
      emit('sorted', 'sorted_tickets', '{{ steps.classify.output.object.risk }}'),
    ],
  })
  await storeEvent(world, { dataset: 'tickets', data: { text: 'Help' } })
  await withEngine(world, async () => {
    const { id } = await instanceIn(world, { workflowId, state: 'waiting' })
    const { database } = world.app.deps
    const run = await database.one<{ id: string; request: Answer['body']; agent_id: string }>(
      sql`select id, request, agent_id from ai_runs where instance_id = ${id}`,
    )
    assert.deepEqual([run.request, encodeId('aiAgent', run.agent_id)], [{ input: { text: 'Help' } }, agent])
    const now = new Date(world.clock.now())
    await database.run(sql`
      update ai_runs set state = 'succeeded', output = '{"object":{"risk":"low"}}', due_at = null, ended_at = ${now} where id = ${run.id}
    `)
    await database.run(
      sql`update workflow_instances set due_at = ${now} where wait_kind = 'ai_run' and wait_id = ${run.id}`,
    )
    await instanceIn(world, { workflowId, state: 'completed' })
  })
  assert.deepEqual(await payloadsOf(world, 'sorted_tickets'), ['low'])
})

test('a step that fails for good is skipped with on_error continue, and later steps see its error', async () => {
  const workflowId = await storeWorkflow(world, {
    dataset: 'tried',
    steps: [
      {
        id: 'gone',
        type: 'deliver',
        destination: encodeId('destination', world.app.deps.uuid()),
        on_error: 'continue',
      },
      emit('after', 'after_tried', { error: '{{ steps.gone.error.reason }}' }),
    ],
  })
  await storeEvent(world, { dataset: 'tried', data: {} })
  const { id } = await withEngine(world, () => instanceIn(world, { workflowId, state: 'completed' }))
  assert.deepEqual(
    (await stepRunsOf(world, id)).map(({ state }) => state),
    ['failed', 'succeeded'],
  )
  assert.deepEqual(await payloadsOf(world, 'after_tried'), [{ error: 'destination_not_found' }])
})

const slug = (): string => world.installed.workspace.slug

describe('while a workspace is suspended', () => {
  const wait = {
    id: 'reply',
    type: 'wait_for_event',
    dataset: 'replies',
    conditions: [{ path: 'n', equals: '{{ payload.n }}' }],
    timeout_seconds: 100,
    on_timeout: 'fail',
  }

  test('a wait retains its remaining time, and ends by its event or its timeout after that', async () => {
    const workflowId = await storeWorkflow(world, { dataset: 'suspended', steps: [wait] })
    await storeEvent(world, { dataset: 'suspended', data: { n: 1 } })
    await storeEvent(world, { dataset: 'suspended', data: { n: 2 } })
    await withEngine(world, async () => {
      await instanceIn(world, { workflowId, state: 'waiting' })
      const due = (await instancesOf(world, workflowId)).map((row) => row.due_at?.getTime() ?? 0)
      await suspendWorkspace(world.app.deps, { slug: slug(), reason: 'test' })
      const suspendedAt = world.clock.now()
      world.clock.advance(10_000)
      await assertPaused(workflowId, 2)
      world.clock.advance(1_000_000)
      assert.deepEqual(
        (await instancesOf(world, workflowId)).map(({ state }) => state),
        ['waiting', 'waiting'],
      )
      await reinstateWorkspace(world.app.deps, { slug: slug() })
      const pausedMs = world.clock.now() - suspendedAt
      await assertPaused(workflowId, 0)
      assert.deepEqual(
        (await instancesOf(world, workflowId)).map((row) => row.due_at?.getTime()),
        due.map((at) => at + pausedMs),
      )
      await storeEvent(world, { dataset: 'replies', data: { n: 2 } })
      await assertStates(workflowId, ['completed', 'waiting'])
      world.clock.advance(100_000)
      await assertStates(workflowId, ['completed', 'failed'])
    })
  })
})

async function assertPaused(workflowId: string, count: number): Promise<void> {
  await world.idle()
  const rows = await instancesOf(world, workflowId)
  assert.equal(rows.filter((row) => row.paused_at !== null).length, count)
}

async function assertStates(workflowId: string, states: readonly string[]): Promise<void> {
  await world.idle()
  assert.deepEqual((await instancesOf(world, workflowId)).map(({ state }) => state).toSorted(), states)
}

test('the deletion of a workflow cancels its instances, and work under their claims changes nothing', async () => {
  const workflowId = await storeWorkflow(world, { dataset: 'deleted', steps: [emit('one', 'from_deleted')] })
  await storeEvent(world, { dataset: 'deleted', data: {} })
  const { store, run } = aStore()
  const runs = (await claimed(store)).map(run)
  await cancelInstancesOf(world.app.deps.database, {
    workspaceId: decodeId('workspace', world.installed.workspace.id) ?? '',
    projectId: decodeId('project', world.installed.project.id) ?? '',
    workflowId,
    now: new Date(world.clock.now()),
  })
  await store.settle(runs)
  assert.equal((await instancesOf(world, workflowId))[0]?.state, 'cancelled')
  assert.deepEqual(await payloadsOf(world, 'from_deleted'), [])
})
