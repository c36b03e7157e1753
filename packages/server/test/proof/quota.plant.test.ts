import { describe, test } from 'node:test'
import { quota } from '../../chaos/scenarios/quota.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('a server that is killed at the edge of a quota', () => {
  test('a server that counts outside the commit is caught', async () => {
    await assertCaught(quota, { rounds: 1, seed: SEED, plant: 'count-apart' }, /^counted wrongly: \d+/)
  })
})
