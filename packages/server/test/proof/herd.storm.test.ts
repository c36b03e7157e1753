import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { herd } from '../../chaos/scenarios/herd.ts'
import { aStorm, broken, CALM } from '../stage/storms.ts'

describe('destinations that recover with a backlog', () => {
  test('they get the backlog on a ramp, and never more than their caps and rates allow', async () => {
    assert.deepEqual(broken(await aStorm(herd, CALM)), [])
  })
})
