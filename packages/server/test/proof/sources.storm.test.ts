import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sources } from '../../chaos/scenarios/sources.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

const AT = { seed: SEED, rounds: 1, ratePerSecond: 40 }

describe('processes that are killed while they read sources', () => {
  test('each row, each change, each item of an API and of a stream is filed once, and each minute runs once', async () => {
    assert.deepEqual(broken(await aStorm(sources, { ...AT, rounds: 2 })), [])
  })
})
