import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { redeliver } from '../../chaos/scenarios/redeliver.ts'
import { aStorm, broken, CALM } from '../stage/storms.ts'

describe('a bulk replay beside live traffic', () => {
  test('the replay sends each of its deliveries once, and none while it is paused or after it was canceled', async () => {
    assert.deepEqual(broken(await aStorm(redeliver, CALM)), [])
  })
})
