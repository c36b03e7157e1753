import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kinds } from '../../chaos/scenarios/kinds.ts'
import { aStorm, assertCaught, broken, SEED } from '../stage/storms.ts'

const AT = { seed: SEED, rounds: 3, ratePerSecond: 30 }

/** With the brokers that this machine has; PostgreSQL is always there. */
describe('brokers that are killed behind their destinations', { concurrency: 1 }, () => {
  test('no event is lost, and no more events arrive twice than were in flight', async () => {
    assert.deepEqual(broken(await aStorm(kinds, AT)), [])
  })

  test('a server that counts events as taken before their broker confirms them is caught', async () => {
    await assertCaught(kinds, { ...AT, plant: 'taken-before-confirm' }, /^(acknowledged|stored), never delivered: \d+/)
  })
})
