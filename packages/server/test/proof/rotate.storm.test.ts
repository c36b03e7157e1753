import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rotate } from '../../chaos/scenarios/rotate.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('URLs, secrets and the sealing key, rotated repeatedly on a server that is killed', () => {
  test('they work as long as promised and no longer, and every sealed value opens', async () => {
    assert.deepEqual(broken(await aStorm(rotate, { rounds: 1, seed: SEED })), [])
  })
})
