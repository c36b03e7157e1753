import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { quota } from '../../chaos/scenarios/quota.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('a server that is killed at the edge of a quota', () => {
  test('the server accepts exactly as many events as had room', async () => {
    assert.deepEqual(broken(await aStorm(quota, { rounds: 2, seed: SEED })), [])
  })
})
