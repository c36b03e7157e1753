import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kill9 } from '../../chaos/scenarios/kill9.ts'
import { aStorm, assertCaught, broken, SEED } from '../stage/storms.ts'

/** One storm and one planted defect of the set that `npm run test:long` runs. */
describe('a server that is killed under load, in short', { concurrency: 2 }, () => {
  test('the server fulfills every promise of a 201', async () => {
    assert.deepEqual(broken(await aStorm(kill9, { rounds: 1, seed: SEED })), [])
  })

  test('a server that acknowledges before the commit is caught', async () => {
    await assertCaught(kill9, { rounds: 1, seed: SEED, plant: 'ack-before-commit' }, /^acknowledged, not stored: \d+/)
  })
})
