import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { herd } from '../../chaos/scenarios/herd.ts'
import { neighbor, neighborByName } from '../../chaos/scenarios/neighbor.ts'
import { aStorm, assertCaught, broken, CALM } from '../stage/storms.ts'

describe('a destination that hangs, and a destination that is dead', () => {
  test('the neighbors lose nothing: they get all of their deliveries meanwhile', async () => {
    assert.deepEqual(broken(await aStorm(neighbor, CALM)), [])
  })

  test('the neighbors lose nothing when the host names hang or do not exist', async () => {
    assert.deepEqual(broken(await aStorm(neighborByName, CALM)), [])
  })

  test('a server on which all destinations share a few slots is caught', async () => {
    await assertCaught(
      neighbor,
      { ...CALM, plant: 'one-queue' },
      /^not delivered to a neighbor before the bad ones were repaired: \d+/,
    )
  })

  test('a server that resolves only a few names at a time is caught', async () => {
    await assertCaught(
      neighborByName,
      { ...CALM, plant: 'few-look-ups' },
      /^not delivered to a neighbor before the bad ones were repaired: \d+/,
    )
  })
})

describe('destinations that recover with a backlog', () => {
  test('they get the backlog on a ramp, and never more than their caps and rates allow', async () => {
    assert.deepEqual(broken(await aStorm(herd, CALM)), [])
  })

  test('a server without caps is caught flooding them', async () => {
    await assertCaught(herd, { ...CALM, plant: 'no-caps' }, /^more at once than a destination allows: \d+/)
  })

  test('a server without breakers is caught flooding them', async () => {
    await assertCaught(herd, { ...CALM, plant: 'no-ramp' }, /^more at once than the ramp allows: \d+/)
  })
})
