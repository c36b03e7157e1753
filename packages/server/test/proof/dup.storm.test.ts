import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dup } from '../../chaos/scenarios/dup.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('processes that die while they deliver', () => {
  test('they repeat at most the requests that were in flight, and nothing before the first death', async () => {
    assert.deepEqual(broken(await aStorm(dup, { rounds: 1, seed: SEED })), [])
  })
})
