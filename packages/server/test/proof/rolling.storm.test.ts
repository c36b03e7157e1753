import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rolling } from '../../chaos/scenarios/rolling.ts'
import { aStorm, broken, CALM } from '../stage/storms.ts'

describe('processes that are restarted one after the other', () => {
  test('they fail no request, and cut off and repeat no delivery', async () => {
    assert.deepEqual(broken(await aStorm(rolling, { ...CALM, rounds: 3 })), [])
  })
})
