import { describe, test } from 'node:test'
import { redeliver } from '../../chaos/scenarios/redeliver.ts'
import { assertCaught, CALM } from '../stage/storms.ts'

describe('a bulk replay beside live traffic', () => {
  test('a replay that forgets its position is caught', async () => {
    await assertCaught(redeliver, { ...CALM, plant: 'no-place' }, /^sent twice by a replay: \d+/)
  })

  test('a replay that ignores a pause is caught', async () => {
    await assertCaught(redeliver, { ...CALM, plant: 'deaf-replay' }, /^made due while paused: \d+/)
  })
})
