import { describe, test } from 'node:test'
import { sources } from '../../chaos/scenarios/sources.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

const AT = { seed: SEED, rounds: 1, ratePerSecond: 40 }

describe('processes that are killed while they read sources', { concurrency: 2 }, () => {
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
