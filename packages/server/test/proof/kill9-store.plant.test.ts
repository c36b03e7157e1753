import { describe, test } from 'node:test'
import type { PlantName } from '../../chaos/plants.ts'
import { kill9 } from '../../chaos/scenarios/kill9.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

const CAUGHT: readonly (readonly [says: string, plant: PlantName, as: RegExp])[] = [
  ['a server that sometimes leaves out a delivery', 'half-fan-out', /^acknowledged, never delivered: \d+/],
  ['a server that stores an event and answers 503', 'store-then-503', /^answered 503, yet stored: \d+/],
  ['a server that sometimes stores an event twice', 'store-twice', /^stored twice: \d+/],
  ['a server that reformats bodies', 'reformat', /^bytes changed in the store: \d+/],
  ['a server whose dead senders never count as dead', 'no-reclaim', /^deliveries left unfinished: \d+/],
]

describe('a server that is killed under load', { concurrency: 2 }, () => {
  for (const [says, plant, as] of CAUGHT) {
    test(`${says} is caught`, async () => {
      await assertCaught(kill9, { rounds: 1, seed: SEED, plant }, as)
    })
  }
})
