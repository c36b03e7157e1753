import { describe, test } from 'node:test'
import { rolling } from '../../chaos/scenarios/rolling.ts'
import { assertCaught, CALM } from '../stage/storms.ts'

describe('processes that are restarted one after the other', () => {
  test('processes that end without finishing their open requests are caught', async () => {
    await assertCaught(rolling, { ...CALM, plant: 'no-drain' }, /^deliveries cut off: \d+/)
  })
})
