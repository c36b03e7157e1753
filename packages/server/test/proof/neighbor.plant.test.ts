import { describe, test } from 'node:test'
import { neighbor, neighborByName } from '../../chaos/scenarios/neighbor.ts'
import { assertCaught, CALM } from '../stage/storms.ts'

describe('a destination that hangs, and a destination that is dead', () => {
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
