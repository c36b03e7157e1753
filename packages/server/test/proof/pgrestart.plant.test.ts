import { describe, test } from 'node:test'
import { pgrestart } from '../../chaos/scenarios/pgrestart.ts'
import { assertCaught, SEED } from '../stage/storms.ts'

describe('a PostgreSQL that restarts under load', () => {
  test('a server whose events do not wait for it is caught', async () => {
    await assertCaught(pgrestart, { rounds: 2, seed: SEED, plant: 'no-patience' }, /^failed requests: \d+/)
  })
})
