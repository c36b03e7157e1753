import { describe, test } from 'node:test'
import { rejections } from '../../chaos/scenarios/rejections.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('a flood of forgeries', { concurrency: 2 }, () => {
  test('a server with a row for each address is caught', async () => {
    await assertCaught(rejections, { rounds: 1, seed: SEED, plant: 'row-per-address' }, /^more rows than minutes: \d+/)
  })

  test('a server that counts some refusals twice is caught', async () => {
    await assertCaught(
      rejections,
      { rounds: 1, seed: SEED, plant: 'count-refusals-twice' },
      /^logged (?:in calm, but not once per refusal|more often than sent): \d+/,
    )
  })
})
