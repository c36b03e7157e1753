import { describe, test } from 'node:test'
import { takeover } from '../../chaos/scenarios/takeover.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('a server whose port another process takes over', () => {
  test('one that ends with requests under way is caught', async () => {
    await assertCaught(
      takeover,
      { rounds: 4, seed: SEED, plant: 'no-drain' },
      /^(?:failed requests|deliveries cut off): \d+/,
    )
  })
})
