import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { aDestination } from '../stage/fixtures.ts'
import { aWorld, eventually, type Sink, type World } from '../stage/harness.ts'
import { instancesOf, payloadsOf, storeEvent, storeWorkflow } from '../stage/workflow-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Two nodes, each with every role, run the same workflows in one database. Their steps wait for deliveries of either node. */
let world: World
let other: World
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, sink } = made)
    other = await aWorld({ beside: world })
    made.atEnd(() => other.stop())
  },
  { loops: ['workflows.run'] },
)

const COUNT = 40
const numbers = Array.from({ length: COUNT }, (_, index) => index)

function advance(ms: number): void {
  for (const node of [world, other]) node.clock.advance(ms)
}

/** A workflow that delivers its record, waits for the delivery, and files a record about it. */
async function aWorkflow(name: string): Promise<string> {
  const { destination } = await aDestination(world, {
    url: sink.url,
    datasets: ['nothing_else'],
  })
  return storeWorkflow(world, {
    dataset: name,
    steps: [
      { id: 'before', type: 'emit_event', dataset: `${name}_before`, data: { n: '{{ payload.n }}' }, on_error: 'fail' },
      {
        id: 'send',
        type: 'deliver',
        destination: destination.id,
        await: 'delivered',
        capture_response: true,
        on_error: 'fail',
      },
      {
        id: 'after',
        type: 'emit_event',
        dataset: `${name}_after`,
        data: { n: '{{ payload.n }}', answered: '{{ steps.send.output.response_body.answered }}' },
        on_error: 'fail',
      },
    ],
  })
}

/** Starts an instance for each number, alternately at both nodes, and waits until all have ended. */
async function run(workflowId: string, name: string): Promise<readonly string[]> {
  await Promise.all(numbers.map((n) => storeEvent(n % 2 === 0 ? world : other, { dataset: name, data: { n } })))
  return eventually(
    'all instances have ended',
    async () => {
      advance(250)
      const states = (await instancesOf(world, workflowId)).map(({ state }) => state)
      return states.length === COUNT && states.every((state) => ['completed', 'failed'].includes(state))
        ? states
        : undefined
    },
    8_000,
  )
}

const deliveriesOf = (workflowId: string): Promise<readonly { n: number }[]> =>
  world.app.deps.database.many<{ n: number }>(sql`
    select count(*)::int as n
      from workflow_instances i
      join deliveries d on d.workspace_id = i.workspace_id and d.project_id = i.project_id and d.record_id = i.record_id
     where i.workflow_id = ${workflowId}
     group by i.id
  `)

const sorted = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => a - b)
const received = (): readonly number[] => sorted(sink.received.map(({ body }) => JSON.parse(body).data.n))

async function assertEachOnce(workflowId: string, name: string): Promise<void> {
  const [earlier, later] = [await payloadsOf(world, `${name}_before`), await payloadsOf(world, `${name}_after`)]
  assert.deepEqual(sorted(earlier.map(({ n }) => n)), numbers, 'filed once before the delivery')
  assert.deepEqual(sorted(later.map(({ n }) => n)), numbers, 'filed once after it')
  assert.deepEqual(
    (await deliveriesOf(workflowId)).map(({ n }) => n),
    numbers.map(() => 1),
    'one delivery each',
  )
}

test('with two engines, each delivery that a step waits for is made once, and each effect after it happens once', async () => {
  sink.received.length = 0
  sink.answer(({ body }) => ({ status: 200, body: JSON.stringify({ answered: JSON.parse(body).data.n }) }))
  const workflowId = await aWorkflow('both')
  assert.deepEqual([...new Set(await run(workflowId, 'both'))], ['completed'])
  await assertEachOnce(workflowId, 'both')
  assert.deepEqual(received(), numbers, 'each receiver saw one request')
  const filed = await payloadsOf(world, 'both_after')
  assert.ok(
    filed.every(({ n, answered }) => n === answered),
    'each instance read the response of its delivery',
  )
})

test('an engine that ends while its instances wait leaves them to the other one, and no effect is repeated', async () => {
  sink.received.length = 0
  const third = await aWorld({ beside: world, env: { ROLES: 'work' } })
  third.clock.set(world.clock.now())
  const workflowId = await aWorkflow('left')
  const running = run(workflowId, 'left')
  await sink.until(COUNT / 4)
  await third.stop()
  assert.deepEqual([...new Set(await running)], ['completed'])
  await assertEachOnce(workflowId, 'left')
  assert.deepEqual(received(), numbers)
})

test('a payment that comes at once after its order ends the wait for it, whichever node stores and runs which', async () => {
  const workflowId = await storeWorkflow(world, {
    dataset: 'quick_orders',
    steps: [
      {
        id: 'paid',
        type: 'wait_for_event',
        dataset: 'quick_payments',
        conditions: [{ path: 'order', equals: '{{ payload.n }}' }],
        timeout_seconds: 600,
        on_timeout: 'fail',
      },
    ],
  })
  other.app.deps.configChanged(decodeId('project', world.installed.project.id) ?? '')
  await Promise.all(
    numbers.map(async (n) => {
      const [first, second] = n % 2 === 0 ? [world, other] : [other, world]
      await storeEvent(first, { dataset: 'quick_orders', data: { n } })
      await storeEvent(second, { dataset: 'quick_payments', data: { order: n } })
    }),
  )
  await eventually('every instance has its payment', async () => {
    advance(100)
    const instances = await instancesOf(world, workflowId)
    return instances.length === COUNT && instances.every(({ state }) => state === 'completed') ? true : undefined
  })
})
