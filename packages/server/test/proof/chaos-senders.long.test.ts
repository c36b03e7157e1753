import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dup } from '../../chaos/scenarios/dup.ts'
import { redeliver } from '../../chaos/scenarios/redeliver.ts'
import { rolling } from '../../chaos/scenarios/rolling.ts'
import { suspend } from '../../chaos/scenarios/suspend.ts'
import { aStorm, assertCaught, broken, CALM, SEED } from '../stage/storms.ts'

describe('processes that die while they deliver', () => {
  test('repeat no more than they had in flight, and nothing before the first death', async () => {
    assert.deepEqual(broken(await aStorm(dup, { rounds: 1, seed: SEED })), [])
  })

  test('are caught when those that live lose what they hold', async () => {
    await assertCaught(
      dup,
      { rounds: 1, seed: SEED, plant: 'no-fence' },
      /^duplicates \(at most blows × in flight\): \d+/,
    )
  })
})

describe('processes that are restarted one after the other', () => {
  test('fail no request, cut off no delivery and repeat none', async () => {
    assert.deepEqual(broken(await aStorm(rolling, { ...CALM, rounds: 3 })), [])
  })

  test('are caught when they end without finishing what is under way', async () => {
    await assertCaught(rolling, { ...CALM, plant: 'no-drain' }, /^deliveries cut off: \d+/)
  })
})

describe('a replay of many deliveries beside live traffic', () => {
  test('sends each of those chosen once, and nothing while it is paused or after it was cancelled', async () => {
    assert.deepEqual(broken(await aStorm(redeliver, CALM)), [])
  })

  test('is caught when it forgets the place that it has come to', async () => {
    await assertCaught(redeliver, { ...CALM, plant: 'no-place' }, /^sent twice by a replay: \d+/)
  })

  test('is caught when it does not heed a pause', async () => {
    await assertCaught(redeliver, { ...CALM, plant: 'deaf-replay' }, /^made due while paused: \d+/)
  })
})

describe('a workspace that is suspended under load', () => {
  test('takes nothing in, sends nothing and counts nothing meanwhile, and loses nothing', async () => {
    assert.deepEqual(broken(await aStorm(suspend, CALM)), [])
  })

  test('is caught when its suspension is forgotten', async () => {
    await assertCaught(suspend, { ...CALM, plant: 'suspend-in-name' }, /^begun while suspended: \d+/)
  })
})
