import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination } from '../stage/fixtures.ts'
import type { Sink, World } from '../stage/harness.ts'
import { instanceIn, payloadsOf, stepRunsOf, storeEvent, storeWorkflow } from '../stage/workflow-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Workflows against a real database: 201 means that they start, and each step has its effect once. */
let world: World
let sink: Sink

onWorldStage(
  (made) => {
    ;({ world, sink } = made)
  },
  { loops: ['workflows.run'] },
)

const emit = (id: string, dataset: string, data?: unknown) => ({
  id,
  type: 'emit_event',
  dataset,
  ...(data === undefined ? {} : { data }),
})

test('a workflow with delay, branch, emit_event and deliver runs to its end, and its record takes the whole road', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['nowhere'] })
  const workflowId = await storeWorkflow(world, {
    dataset: 'orders',
    steps: [
      { id: 'cool_off', type: 'delay', seconds: 30 },
      {
        id: 'route',
        type: 'branch',
        branches: [
          {
            name: 'big',
            conditions: [{ path: 'total', op: 'gte', value: 100 }],
            steps: [emit('log', 'big_orders', { order: '{{ payload.id }}', text: 'Order {{ payload.id }}' })],
          },
        ],
        else: [emit('small', 'small_orders')],
      },
      { id: 'notify', type: 'deliver', destination: destination.id, record: 'log' },
    ],
  })
  await storeEvent(world, { dataset: 'orders', data: { id: 7, total: 150 } })
  await instanceIn(world, { workflowId, state: 'sleeping' })
  world.clock.advance(30_000)
  const { id } = await instanceIn(world, { workflowId, state: 'completed' })
  assert.deepEqual(
    (await stepRunsOf(world, id)).map((row) => [row.step_id, row.state]),
    [
      ['cool_off', 'succeeded'],
      ['route', 'succeeded'],
      ['log', 'succeeded'],
      ['notify', 'succeeded'],
    ],
  )
  assert.deepEqual(await payloadsOf(world, 'big_orders'), [{ order: 7, text: 'Order 7' }])
  assert.match(sink.received.at(-1)?.body ?? '', /"text":"Order 7"/)
})

test('a wait ends with the record that matches with strict equality, and not with others', async () => {
  const workflowId = await storeWorkflow(world, {
    dataset: 'carts',
    steps: [
      {
        id: 'paid',
        type: 'wait_for_event',
        dataset: 'payments',
        conditions: [
          { path: 'order', equals: '{{ payload.id }}' },
          { path: 'ok', equals: true },
        ],
        timeout_seconds: 600,
        on_timeout: 'fail',
      },
      emit('done', 'paid_carts', { amount: '{{ steps.paid.output.payload.amount }}' }),
    ],
  })
  await storeEvent(world, { dataset: 'carts', data: { id: 5 } })
  await instanceIn(world, { workflowId, state: 'waiting' })
  await storeEvent(world, { dataset: 'payments', data: { order: '5', ok: true, amount: 1 } })
  await storeEvent(world, { dataset: 'payments', data: { order: 5, ok: false, amount: 2 } })
  await storeEvent(world, { dataset: 'payments', data: { order: 5, ok: true, amount: 3 } })
  await storeEvent(world, { dataset: 'payments', data: { order: 5, ok: true, amount: 4 } })
  await instanceIn(world, { workflowId, state: 'completed' })
  assert.deepEqual(await payloadsOf(world, 'paid_carts'), [{ amount: 3 }])
})

test('a wait that nothing ends times out', async () => {
  const workflowId = await storeWorkflow(world, {
    dataset: 'trials',
    steps: [
      {
        id: 'bought',
        type: 'wait_for_event',
        dataset: 'purchases',
        conditions: [{ path: 'who', equals: '{{ payload.who }}' }],
        timeout_seconds: 60,
        on_timeout: 'fail',
      },
    ],
  })
  await storeEvent(world, { dataset: 'trials', data: { who: 'ada' } })
  await instanceIn(world, { workflowId, state: 'waiting' })
  world.clock.advance(60_000)
  const failed = await instanceIn(world, { workflowId, state: 'failed' })
  assert.equal(failed.error.reason, 'wait_timed_out')
})
