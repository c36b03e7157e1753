import { describe, test } from 'node:test'
import { dup } from '../../chaos/scenarios/dup.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('processes that die while they deliver', () => {
  test('a server whose surviving processes lose their lanes is caught', async () => {
    await assertCaught(
      dup,
      { rounds: 1, seed: SEED, plant: 'no-fence' },
      /^duplicates \(at most blows × in flight\): \d+/,
    )
  })
})
