import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodePosition, encodePosition, partwayPrefix, type Position } from './stream-cursor.ts'

const settled: Position = {
  history: '7489123456789012345-1',
  from: { xmin: 800, xmax: 812, running: [800, 805] },
  floor: 1_768_478_400_000,
}
const partway: Position = {
  ...settled,
  partway: {
    to: { xmin: 812, xmax: 812, running: [] },
    floor: 1_768_478_401_000,
    after: '019bc2a0-0000-7000-8000-000000000001',
  },
}

test("a cursor contains its reader's position, and travels unchanged in headers and URLs", () => {
  for (const position of [settled, partway]) {
    const cursor = encodePosition(position)
    assert.deepEqual(decodePosition(cursor), position)
    assert.equal(encodeURIComponent(cursor), cursor)
  }
})

test('the cursors of one read share everything but the last id', () => {
  const { partway: inside } = partway
  assert.ok(inside)
  const prefix = partwayPrefix({ ...settled, to: inside.to, toFloor: inside.floor })
  assert.equal(encodePosition(partway), prefix + inside.after)
})

test('a text that is not a cursor of ours is refused', () => {
  const cursor = encodePosition(partway)
  for (const text of [
    '',
    'x',
    '42',
    `${cursor}0`,
    `${cursor}~`,
    cursor.replaceAll('~', '.'),
    'rec_01hzzzzzzzzzzzzzzzzzzzzzzz',
    '~'.repeat(40),
  ]) {
    assert.equal(decodePosition(text), undefined, text)
  }
})
