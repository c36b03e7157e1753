import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rejections } from '../../chaos/scenarios/rejections.ts'
import { aStorm, broken, SEED } from '../stage/storms.ts'

describe('a flood of forgeries', () => {
  test('a flood is counted in a bounded number of rows, never above the number that was sent, and other senders are not refused', async () => {
    assert.deepEqual(broken(await aStorm(rejections, { rounds: 1, seed: SEED })), [])
  })
})
