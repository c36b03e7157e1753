import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pgrestart } from '../../chaos/scenarios/pgrestart.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('a PostgreSQL that restarts under load', () => {
  test('no request fails, and the server fulfills every promise of a 201', async () => {
    assert.deepEqual(broken(await aStorm(pgrestart, { rounds: 4, seed: SEED })), [])
  })
})
