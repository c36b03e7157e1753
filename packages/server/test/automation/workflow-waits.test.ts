import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { fromOrigin } from '../../src/pipeline/capture/from-origin.ts'
import { createDirectory } from '../../src/pipeline/directory.ts'
import { InstanceRun } from '../../src/pipeline/workflow/instance-run.ts'
import type { Matched, StorePort } from '../../src/pipeline/workflow/ports.ts'
import { createWorkflowStore } from '../../src/pipeline/workflow/postgres-store.ts'
import { waitKey } from '../../src/pipeline/workflow/wait-key.ts'
import { sql } from '../../src/platform/db.ts'
import type { World } from '../stage/harness.ts'
import { storeEvent, storeWorkflow } from '../stage/workflow-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** How the matcher finds the waits of a record, with many waits and large records. No engine runs. */
let world: World
let store: StorePort
onWorldStage(
  (made) => {
    ;({ world } = made)
    const { deps, acceptAll } = world.app
    store = createWorkflowStore(deps, { acceptAll, directory: createDirectory(deps), lanes: () => undefined })
  },
  { env: { ROLES: 'web' }, loops: [] },
)

const place = (): { workspaceId: string; projectId: string } => ({
  workspaceId: decodeId('workspace', world.installed.workspace.id) ?? '',
  projectId: decodeId('project', world.installed.project.id) ?? '',
})

async function match(): Promise<Matched> {
  const answer = await store.match()
  if (answer.outcome !== 'done') throw new Error('The matcher was not answered.')
  return answer.value
}

async function matchAll(): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- commit after commit
  for (let more = true; more;) ({ more } = await match())
}

/** Instances that wait for {kind: 'paid', n} with one n each, and that only their kind finds. */
async function waitingFor(dataset: string, count: number): Promise<void> {
  const { workspaceId, projectId } = place()
  const now = new Date(world.clock.now())
  const key = waitKey('kind', 'paid')?.toString('hex') ?? ''
  await world.app.deps.database.run(sql`
    insert into workflow_instances (workspace_id, project_id, id, workflow_id, version, record_id, dataset, started_by, state, due_at,
                                    wait_kind, wait_dataset, wait_path, wait_key, wait_conditions, wait_since, created_at, updated_at)
    select ${workspaceId}, ${projectId}, gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid(), 'started', 'record', 'waiting',
           ${now}::timestamptz + interval '1 day', 'event', ${dataset}, 'kind', decode(${key}, 'hex'),
           json_build_array(json_build_object('path', 'kind', 'equals', 'paid'), json_build_object('path', 'n', 'equals', n)),
           '1:1: 0', ${now}, ${now}
      from generate_series(1, ${count}::int) n
  `)
}

/** An event of a source. */
const sourced = (dataset: string, data: unknown): ReturnType<typeof fromOrigin> =>
  fromOrigin({
    ...place(),
    dataset,
    origin: { kind: 'source', id: world.app.deps.uuid() },
    text: JSON.stringify(data),
    receivedAt: world.clock.now(),
  })

/** Stores an event for each n in one commit. */
async function paid(dataset: string, { count, text = '' }: { count: number; text?: string }): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => sourced(dataset, { kind: 'paid', n: index + 1, text }))
  await world.app.acceptAll(events, () => Promise.resolve())
}

/** How many waits of a dataset have found the record with their own n. */
async function rightlyWoken(dataset: string): Promise<number> {
  const { count } = await world.app.deps.database.one<{ count: number }>(sql`
    select count(distinct i.wait_id)::int as count
      from workflow_instances i
      join records r on r.workspace_id = i.workspace_id and r.project_id = i.project_id and r.id = i.wait_id
     where i.wait_dataset = ${dataset}
       and i.wait_key is null
  `)
  return count
}

/** Claims the instances that are due, and runs each to its next stop. Returns how many. */
async function step(): Promise<number> {
  const claimed = await store.claim({ limit: 1_000, lease_ms: 60_000, shared: false })
  if (claimed.outcome !== 'done') throw new Error('The claim was not answered.')
  const { instances } = claimed.value
  const means = {
    now: world.clock.now(),
    uuid: world.app.deps.uuid,
    place: { destination: () => undefined, counted: false },
  }
  await store.settle(instances.map((instance) => new InstanceRun(instance, means).advance()))
  return instances.length
}

type Members = Readonly<Record<string, unknown>>
const awaiting = (id: string, more: Members = {}) => ({
  id,
  type: 'wait_for_event',
  dataset: 'payments',
  conditions: [{ path: 'order', equals: '{{ payload.id }}' }],
  timeout_seconds: 60,
  ...more,
})

/** Starts an instance of a workflow with these steps, for the order. */
async function started(order: number, steps: readonly Members[]): Promise<string> {
  const dataset = `starts_${order}`
  const workflowId = await storeWorkflow(world, { dataset, steps })
  await storeEvent(world, { dataset, data: { id: order } })
  return workflowId
}

const pay = (order: number, more: Members = {}): Promise<string> =>
  storeEvent(world, { dataset: 'payments', data: { order, ...more } })

/** The record that ended the wait of an instance; null: none has. */
async function endedBy(workflowId: string): Promise<string | null> {
  const { wait_id: id } = await world.app.deps.database.one<{ wait_id: string | null }>(
    sql`select wait_id from workflow_instances where workflow_id = ${workflowId}`,
  )
  return id === null ? null : encodeId('record', id)
}

test('a wait is found by the value that its template rendered, which other instances do not share', async () => {
  const conditions = [
    { path: 'kind', equals: 'paid' },
    { path: 'order', equals: '{{ payload.id }}' },
  ]
  const wait = { id: 'paid', type: 'wait_for_event', dataset: 'payments', conditions, timeout_seconds: 600 }
  const workflowId = await storeWorkflow(world, { dataset: 'carts', steps: [wait] })
  await storeEvent(world, { dataset: 'carts', data: { id: 5 } })
  await step()
  const { database } = world.app.deps
  const parked = await database.one<{ state: string; wait_path: string }>(
    sql`select state, wait_path from workflow_instances where workflow_id = ${workflowId}`,
  )
  assert.deepEqual(parked, { state: 'waiting', wait_path: 'order' })
  await matchAll()
  await storeEvent(world, { dataset: 'payments', data: { kind: 'refunded', order: 5 } })
  assert.equal((await match()).woken, 0, 'the other conditions count too')
  await storeEvent(world, { dataset: 'payments', data: { kind: 'paid', order: 5 } })
  assert.equal((await match()).woken, 1)
})

test('a value that many waits share is compared in several commits, and each wait finds its own record', async () => {
  const count = 700
  await waitingFor('shared', count)
  await matchAll()
  await paid('shared', { count })
  const first = await match()
  assert.ok(first.more && first.woken > 0 && first.woken < 500, JSON.stringify(first))
  await matchAll()
  assert.equal(await rightlyWoken('shared'), count)
})

test('the records of one commit are limited in size together', async () => {
  await waitingFor('large', 12)
  await matchAll()
  await paid('large', { count: 12, text: 'x'.repeat(1_000_000) })
  const first = await match()
  assert.ok(first.more && first.woken > 0 && first.woken < 12, JSON.stringify(first))
  await matchAll()
  assert.equal(await rightlyWoken('large'), 12)
})

describe('a record from before a wait', () => {
  // The waits of the tests before have ended, and their instances are due.
  before(async () => {
    // oxlint-disable-next-line no-await-in-loop -- claim after claim
    for (let count = 1; count > 0;) count = await step()
  })

  test('ends the wait if it was stored after the start of the instance, even when the matcher has passed it', async () => {
    await waitingFor('elsewhere', 1)
    await pay(21, { before: true })
    const workflowId = await started(21, [awaiting('paid')])
    const [first] = [await pay(21), await pay(21)]
    await matchAll()
    await step()
    assert.equal(await endedBy(workflowId), null)
    assert.deepEqual([(await match()).woken, await endedBy(workflowId)], [1, first])
  })

  test('does not end the wait if it was stored before the start, or with since: "now"', async () => {
    await pay(22)
    const since = await started(22, [awaiting('paid')])
    const now = await started(23, [awaiting('paid', { since: 'now' })])
    await pay(23)
    await step()
    await matchAll()
    assert.deepEqual([await endedBy(since), await endedBy(now)], [null, null])
    const [later, latest] = [await pay(22), await pay(23)]
    await matchAll()
    assert.deepEqual([await endedBy(since), await endedBy(now)], [later, latest])
    await step()
  })

  test('ends one wait of an instance, and the next wait ends with the next record', async () => {
    const workflowId = await started(24, [awaiting('first'), awaiting('second')])
    const [one, two] = [await pay(24), await pay(24)]
    await step()
    await matchAll()
    assert.equal(await endedBy(workflowId), one)
    await step()
    await matchAll()
    assert.equal(await endedBy(workflowId), two)
    await step()
  })

  test('does not end the wait if a step of the instance filed it', async () => {
    const data = { order: '{{ payload.id }}' }
    const workflowId = await started(25, [
      { id: 'ask', type: 'emit_event', dataset: 'payments', data },
      awaiting('paid'),
    ])
    await step()
    await matchAll()
    assert.equal(await endedBy(workflowId), null)
    const answer = await pay(25)
    await matchAll()
    assert.equal(await endedBy(workflowId), answer)
    await step()
  })

  test('ends the wait from behind many others, page by page, and the wait does not time out before', async () => {
    const workflowId = await started(26, [awaiting('paid', { dataset: 'crowded' })])
    for (let batch = 0; batch < 3; batch += 1)
      // oxlint-disable-next-line no-await-in-loop -- commit after commit
      await paid('crowded', { count: 450 })
    const found = await storeEvent(world, { dataset: 'crowded', data: { order: 26 } })
    await step()
    world.clock.advance(61_000)
    assert.equal(await step(), 0, 'it is due, and has not been compared with everything')
    const first = await match()
    assert.deepEqual([first.more, await endedBy(workflowId)], [true, null])
    await matchAll()
    assert.equal(await endedBy(workflowId), found)
    assert.equal(await step(), 1)
  })

  test('ends the wait if its commit was slow, and came behind the pages that had been compared', async () => {
    await waitingFor('slow', 1)
    const workflowId = await started(27, [awaiting('paid', { dataset: 'slow' })])
    await world.app.acceptAll([sourced('slow', { order: 27 })], async () => {
      // oxlint-disable-next-line no-await-in-loop -- commit after commit
      for (let batch = 0; batch < 3; batch += 1) await paid('slow', { count: 450 })
      await matchAll()
      await step()
      assert.deepEqual([(await match()).more, await endedBy(workflowId)], [true, null])
    })
    await matchAll()
    assert.notEqual(await endedBy(workflowId), null)
  })
})
