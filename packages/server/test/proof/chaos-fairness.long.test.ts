import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { herd } from '../../chaos/scenarios/herd.ts'
import { neighbour, neighbourByName } from '../../chaos/scenarios/neighbour.ts'
import { aStorm, assertCaught, broken, CALM } from '../stage/storms.ts'

describe('a destination that hangs, and one that is dead', () => {
  test('cost their neighbours nothing: these get all of theirs meanwhile', async () => {
    assert.deepEqual(broken(await aStorm(neighbour, CALM)), [])
  })

  test('cost their neighbours nothing when it is their names that hang or do not exist', async () => {
    assert.deepEqual(broken(await aStorm(neighbourByName, CALM)), [])
  })

  test('are caught when all destinations share a few places', async () => {
    await assertCaught(
      neighbour,
      { ...CALM, plant: 'one-queue' },
      /^not delivered to a neighbour before the bad ones were put right: \d+/,
    )
  })

  test('are caught when few names are looked up at a time', async () => {
    await assertCaught(
      neighbourByName,
      { ...CALM, plant: 'few-look-ups' },
      /^not delivered to a neighbour before the bad ones were put right: \d+/,
    )
  })
})

describe('destinations that come back to a backlog', () => {
  test('get it by a ramp, and never more than their caps and rates allow', async () => {
    assert.deepEqual(broken(await aStorm(herd, CALM)), [])
  })

  test('are seen to be flooded when their caps are forgotten', async () => {
    await assertCaught(herd, { ...CALM, plant: 'no-caps' }, /^more at once than a destination allows: \d+/)
  })

  test('are seen to be flooded when their breakers are forgotten', async () => {
    await assertCaught(herd, { ...CALM, plant: 'no-ramp' }, /^more at once than the ramp allows: \d+/)
  })
})
