import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contains, Horizon, NOTHING, readSnapshot, sees } from './snapshot.ts'

const snapshot = (text: string) => {
  const read = readSnapshot(text)
  assert.ok(read)
  return read
}

test('a snapshot is parsed as PostgreSQL prints it, and no other text is', () => {
  assert.deepEqual(readSnapshot('10:20:10,14,15'), { xmin: 10, xmax: 20, running: [10, 14, 15] })
  assert.deepEqual(readSnapshot('10:10:'), { xmin: 10, xmax: 10, running: [] })
  for (const text of [
    '',
    '10',
    '10:20',
    '20:10:',
    '10:20:9',
    '10:20:20',
    'a:b:',
    '0:5:',
    '10:20:10:1',
    '10:20:1e400',
    '1.5:2:',
  ]) {
    assert.equal(readSnapshot(text), undefined, text)
  }
})

test('a snapshot sees transactions that had ended, and none that ran or came later', () => {
  const at = snapshot('10:20:10,14')
  assert.deepEqual(
    [9, 10, 11, 14, 19, 20].map((xid) => sees(at, xid)),
    [true, false, true, false, true, false],
  )
  assert.equal(sees(NOTHING, 3), false)
})

test('the later of two snapshots contains the earlier one', () => {
  assert.equal(contains(snapshot('14:22:14'), snapshot('10:20:10,14')), true)
  assert.equal(contains(snapshot('10:20:10,14'), snapshot('14:22:14')), false)
  assert.equal(contains(snapshot('10:20:10'), snapshot('10:20:10')), true)
  assert.equal(contains(snapshot('10:20:'), NOTHING), true)
})

test('the horizon stays behind a transaction that is under way, for as long as its rows may have been promised', () => {
  const horizon = new Horizon(60_000)
  assert.equal(horizon.behind(snapshot('10:10:'), 1_000_000), 1_000_000)
  // 10 started after the first call, so its rows did too.
  assert.equal(horizon.behind(snapshot('10:12:10'), 1_001_000), 1_000_000)
  assert.equal(horizon.behind(snapshot('10:15:10,13'), 1_030_000), 1_000_000)
  assert.equal(horizon.behind(snapshot('10:15:10'), 1_100_000), 1_040_000)
  // It ended: 16 started after the call that saw 15 as the next.
  assert.equal(horizon.behind(snapshot('16:17:16'), 1_101_000), 1_041_000)
  assert.equal(horizon.behind(snapshot('17:17:'), 1_102_000), 1_102_000)
})

test('a new horizon assumes the worst about transactions under way', () => {
  assert.equal(new Horizon(60_000).behind(snapshot('10:12:10'), 1_000_000), 940_000)
})

test('a snapshot that is older than the proof cannot use it', () => {
  const horizon = new Horizon(60_000)
  horizon.behind(snapshot('10:10:'), 1_000_000)
  horizon.behind(snapshot('20:20:'), 1_010_000)
  horizon.behind(snapshot('30:30:'), 1_020_000)
  assert.equal(horizon.behind(snapshot('9:12:9'), 1_020_000), 960_000)
})
