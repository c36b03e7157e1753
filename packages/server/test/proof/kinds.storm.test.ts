import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kinds } from '../../chaos/scenarios/kinds.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

/** PostgreSQL, Pub/Sub, and two of the brokers that this machine has. */
const AT = { seed: SEED, rounds: 4, ratePerSecond: 30 }

describe('brokers that are killed behind their destinations', () => {
  test('no event is lost, and no more events arrive twice than were in flight', async () => {
    assert.deepEqual(broken(await aStorm(kinds, AT)), [])
  })
})
