import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { takeover } from '../../chaos/scenarios/takeover.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('a server whose port another process takes over', () => {
  test('no request fails, no delivery is cut off, and nothing arrives twice', async () => {
    assert.deepEqual(broken(await aStorm(takeover, { rounds: 3, seed: SEED })), [])
  })
})
