import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kill9 } from '../../chaos/scenarios/kill9.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('a server that is killed under load', () => {
  test('the server fulfills every promise of a 201', async () => {
    assert.deepEqual(broken(await aStorm(kill9, { rounds: 3, seed: SEED })), [])
  })
})
