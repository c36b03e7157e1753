import { describe, test } from 'node:test'
import { kill9 } from '../../chaos/scenarios/kill9.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('a server that is killed under load', () => {
  test('a server that acknowledges before the commit is caught', async () => {
    await assertCaught(kill9, { rounds: 1, seed: SEED, plant: 'ack-before-commit' }, /^acknowledged, not stored: \d+/)
  })
})
