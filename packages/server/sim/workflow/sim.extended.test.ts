import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WORKFLOW_CRASH_POINTS } from '../../src/pipeline/workflow/crash-points.ts'
import { runWorkflowSeed } from './world.ts'

test('no promise of workflows is broken in a thousand worlds, each kind of fault happens, and a process dies at each crash point', () => {
  const counts: Record<string, number> = {}
  for (let seed = 0; seed < 1_000; seed += 1) {
    const report = runWorkflowSeed({ seed })
    assert.equal(report.violation, null, `sim --world workflow --seed ${seed} --trace`)
    for (const [what, times] of Object.entries(report.counts)) counts[what] = (counts[what] ?? 0) + times
  }
  const faults = [
    'crashes',
    'pauses',
    'stops',
    'refused',
    'unknown',
    'slow',
    'suspensions',
    'replaced',
    'removed',
    'replies',
  ]
  for (const what of [...faults, ...WORKFLOW_CRASH_POINTS.map((point) => `died: ${point}`)])
    assert.ok((counts[what] ?? 0) > 0, `${what} never happened`)
})
