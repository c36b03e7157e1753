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
  test('the server fulfills every promise of a 201', async () => {
    assert.deepEqual(broken(await aStorm(kill9, { rounds: 3, seed: SEED })), [])
  })
})

describe('a server that is killed under repeats with equal idempotency keys', { concurrency: 2 }, () => {
  test('the server creates one submission for one key', async () => {
    assert.deepEqual(broken(await aStorm(idem, { rounds: 2, seed: SEED })), [])
  })

  test('a server that stores keys outside the commit is caught', async () => {
    await assertCaught(idem, { rounds: 1, seed: SEED, plant: 'keys-in-memory' }, /^one key, several submissions: \d+/)
  })
})

describe('a server that is killed at the edge of a quota', { concurrency: 2 }, () => {
  test('the server accepts exactly as many events as had room', async () => {
    assert.deepEqual(broken(await aStorm(quota, { rounds: 2, seed: SEED })), [])
  })

  test('a server that counts outside the commit is caught', async () => {
    await assertCaught(quota, { rounds: 1, seed: SEED, plant: 'count-apart' }, /^counted wrongly: \d+/)
  })
})

describe('a flood of forgeries', { concurrency: 2 }, () => {
  test('a flood is counted in a bounded number of rows, never above the number that was sent, and other senders are not refused', async () => {
    assert.deepEqual(broken(await aStorm(rejections, { rounds: 1, seed: SEED })), [])
  })

  test('a server with a row for each address is caught', async () => {
    await assertCaught(rejections, { rounds: 1, seed: SEED, plant: 'row-per-address' }, /^more rows than minutes: \d+/)
  })
})

describe('clients of the live stream that disconnect and resume', { concurrency: 2 }, () => {
  test('each client sees every record of a server that is killed', async () => {
    assert.deepEqual(broken(await aStorm(stream, { rounds: 1, seed: SEED })), [])
  })
})

describe('URLs, secrets and the sealing key, rotated repeatedly on a server that is killed', { concurrency: 2 }, () => {
  test('they work as long as promised and no longer, and every sealed value opens', async () => {
    assert.deepEqual(broken(await aStorm(rotate, { rounds: 1, seed: SEED })), [])
  })

  test('a server on which a rotated URL continues to work is caught', async () => {
    await assertCaught(rotate, { rounds: 2, seed: SEED, plant: 'endless-overlap' }, /^accepted after its expiry: \d+/)
  })
})
