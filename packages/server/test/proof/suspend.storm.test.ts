import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { suspend } from '../../chaos/scenarios/suspend.ts'
import { aStorm, broken, CALM } from '../stage/storms.ts'

describe('a workspace that is suspended under load', () => {
  test('the workspace accepts, sends and counts nothing meanwhile, and loses nothing', async () => {
    assert.deepEqual(broken(await aStorm(suspend, CALM)), [])
  })
})
