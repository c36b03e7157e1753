import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sources } from '../../chaos/scenarios/sources.ts'
import { workflow } from '../../chaos/scenarios/workflow.ts'
import { aStorm, assertCaught, broken, SEED } from '../stage/storms.ts'

const AT = { seed: SEED, rounds: 1, ratePerSecond: 40 }

describe('processes that are killed while they run workflows', { concurrency: 2 }, () => {
  test('each instance starts with its record, ends, and has each effect once', async () => {
    assert.deepEqual(broken(await aStorm(workflow, { ...AT, rounds: 2 })), [])
  })

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

describe('processes that are killed while they read sources', { concurrency: 2 }, () => {
  test('each row, each change, each item of an API and of a stream is filed once, and each minute runs once', async () => {
    assert.deepEqual(broken(await aStorm(sources, { ...AT, rounds: 2 })), [])
  })

  test('a server that stores items apart from the position of their source is caught', async () => {
    await assertCaught(sources, { ...AT, plant: 'position-apart' }, /^stored twice: \d+/)
  })

  test('a server that acknowledges a replication before the commit is caught', async () => {
    // One round only: a later one kills the foreign database, which then forgets the acknowledgment and sends again.
    await assertCaught(
      sources,
      { ...AT, plant: 'slot-before-commit' },
      /^changes that were never filed: \d+|another program has read/i,
    )
  })
})
