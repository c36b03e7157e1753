import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { neighbor, neighborByName } from '../../chaos/scenarios/neighbor.ts'
import { aStorm, broken, CALM } from '../stage/storms.ts'

describe('a destination that hangs, and a destination that is dead', () => {
  test('the neighbors lose nothing: they get all of their deliveries meanwhile', async () => {
    assert.deepEqual(broken(await aStorm(neighbor, CALM)), [])
  })

  test('the neighbors lose nothing when the host names hang or do not exist', async () => {
    assert.deepEqual(broken(await aStorm(neighborByName, CALM)), [])
  })
})
