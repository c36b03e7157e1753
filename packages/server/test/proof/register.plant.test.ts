import { describe, test } from 'node:test'
import { register } from '../../chaos/scenarios/register.ts'
import { assertCaught, CALM } from '../stage/storms.ts'

describe('agents that register from many networks at the same time', () => {
  test('a server that does not count some registrations is caught', async () => {
    await assertCaught(
      register,
      { ...CALM, plant: 'uncounted-registrations' },
      /^more accounts than the cap of the day: \d+/,
    )
  })
})
