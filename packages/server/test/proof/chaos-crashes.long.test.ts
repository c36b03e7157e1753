import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { idem } from '../../chaos/scenarios/idem.ts'
import { kill9 } from '../../chaos/scenarios/kill9.ts'
import { quota } from '../../chaos/scenarios/quota.ts'
import { rejections } from '../../chaos/scenarios/rejections.ts'
import { rotate } from '../../chaos/scenarios/rotate.ts'
import { stream } from '../../chaos/scenarios/stream.ts'
import { aStorm, assertCaught, broken, SEED } from '../stage/storms.ts'

describe('a server that is killed under load', { concurrency: 2 }, () => {
  test('keeps every promise of a 201', async () => {
    assert.deepEqual(broken(await aStorm(kill9, { rounds: 3, seed: SEED })), [])
  })
})

describe('a server that is killed under repeats with equal idempotency keys', { concurrency: 2 }, () => {
  test('makes one submission of one key', async () => {
    assert.deepEqual(broken(await aStorm(idem, { rounds: 2, seed: SEED })), [])
  })

  test('is caught when it remembers keys outside the commit', async () => {
    await assertCaught(idem, { rounds: 1, seed: SEED, plant: 'keys-in-memory' }, /^one key, several submissions: \d+/)
  })
})

describe('a server that is killed at the edge of a quota', { concurrency: 2 }, () => {
  test('accepts exactly as many events as had room', async () => {
    assert.deepEqual(broken(await aStorm(quota, { rounds: 2, seed: SEED })), [])
  })

  test('is caught when it counts outside the commit', async () => {
    await assertCaught(quota, { rounds: 1, seed: SEED, plant: 'count-apart' }, /^counted wrongly: \d+/)
  })
})

describe('a flood of forgeries', { concurrency: 2 }, () => {
  test('is counted in a bounded number of rows, never above what was sent, and refuses nobody else', async () => {
    assert.deepEqual(broken(await aStorm(rejections, { rounds: 1, seed: SEED })), [])
  })

  test('is caught when it has a row for each address', async () => {
    await assertCaught(rejections, { rounds: 1, seed: SEED, plant: 'row-per-address' }, /^more rows than minutes: \d+/)
  })
})

describe('clients of the live stream that drop and resume', { concurrency: 2 }, () => {
  test('each see every record of a server that is killed', async () => {
    assert.deepEqual(broken(await aStorm(stream, { rounds: 1, seed: SEED })), [])
  })
})

describe(
  'URLs, secrets and the key that seals them, replaced again and again on a server that is killed',
  { concurrency: 2 },
  () => {
    test('work as long as was promised and no longer, and every sealed value opens', async () => {
      assert.deepEqual(broken(await aStorm(rotate, { rounds: 1, seed: SEED })), [])
    })

    test('are caught when a URL that was replaced goes on working', async () => {
      await assertCaught(rotate, { rounds: 2, seed: SEED, plant: 'endless-overlap' }, /^accepted after its end: \d+/)
    })
  },
)
