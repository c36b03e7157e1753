import { describe, test } from 'node:test'
import { suspend } from '../../chaos/scenarios/suspend.ts'
import { assertCaught, CALM } from '../stage/storms.ts'

describe('a workspace that is suspended under load', () => {
  test('a server that ignores the suspension is caught', async () => {
    await assertCaught(suspend, { ...CALM, plant: 'suspend-in-name' }, /^started while suspended: \d+/)
  })
})
