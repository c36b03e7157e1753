import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ticksOf, timelineOf } from '../../src/screens/automation/workflow-runs/timeline.ts'

const START = Date.parse('2026-01-15T12:00:00.000Z')
const at = (ms: number): string => new Date(START + ms).toISOString()

test('a timeline has one row for each step, with the time of its work beside the time of its waits', () => {
  const { totalMs, rows } = timelineOf(
    {
      created_at: at(0),
      ended_at: at(10_000),
      steps: [
        { step_id: 'pause', type: 'delay', state: 'succeeded', attempt: 1, started_at: at(0), ended_at: at(4_000) },
        { step_id: 'send', type: 'deliver', state: 'failed', attempt: 1, started_at: at(4_000), ended_at: at(5_000) },
        {
          step_id: 'send',
          type: 'deliver',
          state: 'succeeded',
          attempt: 2,
          started_at: at(9_000),
          ended_at: at(10_000),
        },
      ],
    },
    START,
  )
  assert.equal(totalMs, 10_000)
  assert.deepEqual(rows, [
    { stepId: 'pause', bars: [{ kind: 'wait', fromMs: 0, toMs: 4_000 }], workMs: 0, waitMs: 4_000, attempts: 1 },
    {
      stepId: 'send',
      bars: [
        { kind: 'fail', fromMs: 4_000, toMs: 5_000 },
        { kind: 'wait', fromMs: 5_000, toMs: 9_000 },
        { kind: 'work', fromMs: 9_000, toMs: 10_000 },
      ],
      workMs: 2_000,
      waitMs: 4_000,
      attempts: 2,
    },
  ])
})

test('the bar of a step that has not ended reaches until now, and a run without a step has no row', () => {
  const run = { created_at: at(0), ended_at: null }
  const steps = [
    { step_id: 'ask', type: 'run_agent', state: 'waiting', attempt: 1, started_at: at(500), ended_at: null },
  ] as const
  assert.deepEqual(timelineOf({ ...run, steps }, START + 2_000), {
    totalMs: 2_000,
    rows: [
      { stepId: 'ask', bars: [{ kind: 'work', fromMs: 500, toMs: 2_000 }], workMs: 1_500, waitMs: 0, attempts: 1 },
    ],
  })
  assert.deepEqual(timelineOf({ ...run, steps: [] }, START).rows, [])
})

test('the axis has at most four ticks after 0, each at a round time', () => {
  assert.deepEqual(ticksOf(400), [100, 200, 300, 400])
  assert.deepEqual(ticksOf(90_000), [60_000])
  assert.deepEqual(ticksOf(5_400_000), [3_600_000])
  assert.deepEqual(ticksOf(1), [1])
  for (let totalMs = 1; totalMs < 40_000_000_000; totalMs = Math.ceil(totalMs * 1.1)) {
    const { length } = ticksOf(totalMs)
    assert.ok(length >= 1 && length <= 4, `${length} ticks in ${totalMs} ms`)
  }
})
