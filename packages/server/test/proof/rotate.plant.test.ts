import { describe, test } from 'node:test'
import { rotate } from '../../chaos/scenarios/rotate.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('URLs, secrets and the sealing key, rotated repeatedly on a server that is killed', () => {
  test('a server on which a rotated URL continues to work is caught', async () => {
    await assertCaught(rotate, { rounds: 2, seed: SEED, plant: 'endless-overlap' }, /^accepted after its expiry: \d+/)
  })
})
