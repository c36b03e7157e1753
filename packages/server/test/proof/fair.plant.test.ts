import { describe, test } from 'node:test'
import { fair } from '../../chaos/scenarios/fair.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('a tenant that attacks in every way that its limits allow', () => {
  test('a server that does heavy work on the loop is caught', async () => {
    await assertCaught(
      fair,
      { rounds: 1, seed: SEED, plant: 'no-pool' },
      /^events that waited while the loop worked for others: \d+/,
    )
  })

  test('a server on which nobody pays for work is caught', async () => {
    await assertCaught(
      fair,
      { rounds: 1, seed: SEED, plant: 'no-bucket' },
      /^work beyond the plan that was not refused: 1/,
    )
  })

  test('a server that reads answers without an end is caught', async () => {
    await assertCaught(
      fair,
      { rounds: 1, seed: SEED, plant: 'no-socket-bound' },
      /^answers without an end that were read on: \d+/,
    )
  })
})
