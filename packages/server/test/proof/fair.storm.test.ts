import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fair } from '../../chaos/scenarios/fair.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('a tenant that attacks in every way that its limits allow', () => {
  test('another tenant gets its answers and its deliveries, and the loop never works for the attacker for long', async () => {
    assert.deepEqual(broken(await aStorm(fair, { rounds: 1, seed: SEED })), [])
  })
})
