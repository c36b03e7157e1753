import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { register } from '../../chaos/scenarios/register.ts'
import { aStorm, broken, CALM } from '../stage/storms.ts'

describe('agents that register from many networks at the same time', () => {
  test('the cap of the day and the tenth of each network are exact over two processes, and each challenge is used once', async () => {
    assert.deepEqual(broken(await aStorm(register, CALM)), [])
  })
})
