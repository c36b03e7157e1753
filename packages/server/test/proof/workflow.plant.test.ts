import { describe, test } from 'node:test'
import { workflow } from '../../chaos/scenarios/workflow.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

const AT = { seed: SEED, rounds: 1, ratePerSecond: 40 }

describe('processes that are killed while they run workflows', { concurrency: 2 }, () => {
  test('a server that starts instances beside the commit of their record is caught', async () => {
    await assertCaught(workflow, { ...AT, plant: 'start-apart' }, /^stored, not started: \d+/)
  })

  test('a server whose waits miss their events is caught', async () => {
    await assertCaught(workflow, { ...AT, plant: 'lost-wake' }, /^timed out beside the event they waited for: \d+/)
  })

  test('a server that stores an event apart from the cursor of its step is caught', async () => {
    await assertCaught(workflow, { ...AT, plant: 'cursor-apart' }, /^emitted twice into \w+: \d+/)
  })
})
