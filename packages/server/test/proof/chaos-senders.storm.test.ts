import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dup } from '../../chaos/scenarios/dup.ts'
import { redeliver } from '../../chaos/scenarios/redeliver.ts'
import { rolling } from '../../chaos/scenarios/rolling.ts'
import { suspend } from '../../chaos/scenarios/suspend.ts'
import { aStorm, assertCaught, broken, CALM, SEED } from '../stage/storms.ts'

describe('processes that die while they deliver', () => {
  test('they repeat at most the requests that were in flight, and nothing before the first death', async () => {
    assert.deepEqual(broken(await aStorm(dup, { rounds: 1, seed: SEED })), [])
  })

  test('a server whose surviving processes lose their lanes is caught', async () => {
    await assertCaught(
      dup,
      { rounds: 1, seed: SEED, plant: 'no-fence' },
      /^duplicates \(at most blows × in flight\): \d+/,
    )
  })
})

describe('processes that are restarted one after the other', () => {
  test('they fail no request, and cut off and repeat no delivery', async () => {
    assert.deepEqual(broken(await aStorm(rolling, { ...CALM, rounds: 3 })), [])
  })

  test('processes that end without finishing their open requests are caught', async () => {
    await assertCaught(rolling, { ...CALM, plant: 'no-drain' }, /^deliveries cut off: \d+/)
  })
})

describe('a bulk replay beside live traffic', () => {
  test('the replay sends each of its deliveries once, and none while it is paused or after it was canceled', async () => {
    assert.deepEqual(broken(await aStorm(redeliver, CALM)), [])
  })

  test('a replay that forgets its position is caught', async () => {
    await assertCaught(redeliver, { ...CALM, plant: 'no-place' }, /^sent twice by a replay: \d+/)
  })

  test('a replay that ignores a pause is caught', async () => {
    await assertCaught(redeliver, { ...CALM, plant: 'deaf-replay' }, /^made due while paused: \d+/)
  })
})

describe('a workspace that is suspended under load', () => {
  test('the workspace accepts, sends and counts nothing meanwhile, and loses nothing', async () => {
    assert.deepEqual(broken(await aStorm(suspend, CALM)), [])
  })

  test('a server that ignores the suspension is caught', async () => {
    await assertCaught(suspend, { ...CALM, plant: 'suspend-in-name' }, /^started while suspended: \d+/)
  })
})
