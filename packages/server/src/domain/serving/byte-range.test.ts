import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRange } from './byte-range.ts'

test('a range starts at a byte, ends at a byte, or is the last bytes, and never exceeds the file', () => {
  assert.deepEqual(readRange('bytes=0-', 10), { from: 0, to: 10 })
  assert.deepEqual(readRange('bytes=3-5', 10), { from: 3, to: 6 })
  assert.deepEqual(readRange('bytes=3-500', 10), { from: 3, to: 10 })
  assert.deepEqual(readRange('bytes=9-9', 10), { from: 9, to: 10 })
  assert.deepEqual(readRange('bytes=-4', 10), { from: 6, to: 10 })
  assert.deepEqual(readRange('bytes=-40', 10), { from: 0, to: 10 })
})

test('a range that starts after the end is outside, and anything but a single range of bytes requests the whole file', () => {
  for (const header of ['bytes=10-', 'bytes=11-12', 'bytes=-0']) assert.equal(readRange(header, 10), 'outside', header)
  for (const header of [
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=5-3',
    'bytes=0-1,3-4',
    'lines=0-1',
    'bytes=0-1x',
  ])
    assert.equal(readRange(header, 10), 'whole', header)
})
