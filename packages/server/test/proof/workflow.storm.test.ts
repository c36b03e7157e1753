import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { workflow } from '../../chaos/scenarios/workflow.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

const AT = { seed: SEED, rounds: 1, ratePerSecond: 40 }

describe('processes that are killed while they run workflows', () => {
  test('each instance starts with its record, ends, and has each effect once', async () => {
    assert.deepEqual(broken(await aStorm(workflow, { ...AT, rounds: 2 })), [])
  })
})
