import { describe, test } from 'node:test'
import { stream } from '../../chaos/scenarios/stream.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('clients of the live stream that disconnect and resume', () => {
  test('a server that stores records under old ids is caught', async () => {
    await assertCaught(stream, { rounds: 1, seed: SEED, plant: 'late-ids' }, /^stored, never shown to a client: \d+/)
  })
})
