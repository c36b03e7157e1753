import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { idem } from '../../chaos/scenarios/idem.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('a server that is killed under repeats with equal idempotency keys', () => {
  test('the server creates one submission for one key', async () => {
    assert.deepEqual(broken(await aStorm(idem, { rounds: 2, seed: SEED })), [])
  })
})
