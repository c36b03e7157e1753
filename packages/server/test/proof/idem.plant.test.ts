import { describe, test } from 'node:test'
import { idem } from '../../chaos/scenarios/idem.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('a server that is killed under repeats with equal idempotency keys', () => {
  test('a server that stores keys outside the commit is caught', async () => {
    await assertCaught(idem, { rounds: 1, seed: SEED, plant: 'keys-in-memory' }, /^one key, several submissions: \d+/)
  })
})
