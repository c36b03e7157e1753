import { describe, test } from 'node:test'
import { herd } from '../../chaos/scenarios/herd.ts'
import { assertCaught, CALM } from '../stage/storms.ts'

describe('destinations that recover with a backlog', () => {
  test('a server without caps is caught flooding them', async () => {
    await assertCaught(herd, { ...CALM, plant: 'no-caps' }, /^more at once than a destination allows: \d+/)
  })

  test('a server without breakers is caught flooding them', async () => {
    await assertCaught(herd, { ...CALM, plant: 'no-ramp' }, /^more at once than the ramp allows: \d+/)
  })
})
