import { describe, test } from 'node:test'
import { rotate } from '../../chaos/scenarios/rotate.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('URLs, secrets and the sealing key, rotated repeatedly on a server that is killed', { concurrency: 2 }, () => {
  test('a server on which a rotated URL continues to work is caught', async () => {
    await assertCaught(rotate, { rounds: 2, seed: SEED, plant: 'endless-overlap' }, /^accepted after its expiry: \d+/)
  })

  test('a server on which a replaced URL expires immediately is caught', async () => {
    await assertCaught(rotate, { rounds: 1, seed: SEED, plant: 'no-overlap' }, /^refused while valid: \d+/)
  })

  test('a server that removes the previous key before every value has the new one is caught', async () => {
    await assertCaught(
      rotate,
      { rounds: 1, seed: SEED, plant: 'previous-key-first' },
      /^sealed values that nobody can open: \d+/,
    )
  })
})
