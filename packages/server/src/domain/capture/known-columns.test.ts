import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forget, keysOf, knownColumns, learn } from './known-columns.ts'

const roomy = { charsMax: 1_000 }

test('a key is known as long as a record that has it is retained', () => {
  const known = knownColumns()
  learn(known, { keys: ['a', 'b'], complete: true, at: '1', ...roomy })
  learn(known, { keys: ['b'], complete: true, at: '5', ...roomy })
  forget(known, '3')
  assert.deepEqual([...known.lastSeen], [['b', '5']])
  forget(known, null)
  assert.deepEqual([known.lastSeen.size, known.chars], [0, 0])
})

test('an older record does not change the newest use of a key', () => {
  const known = knownColumns([['a', '5']])
  learn(known, { keys: ['a'], complete: true, at: '1', ...roomy })
  assert.deepEqual([...known.lastSeen], [['a', '5']])
})

test('keys that do not fit are reported as missing until the records that have them are gone', () => {
  const known = knownColumns()
  learn(known, { keys: ['a', 'b'], complete: true, at: '1', charsMax: 20 })
  assert.deepEqual([[...known.lastSeen.keys()], known.missedAt], [['a'], '1'])
  learn(known, { keys: [], complete: false, at: '4', charsMax: 20 })
  forget(known, '4')
  assert.equal(known.missedAt, '4')
  forget(known, '5')
  assert.equal(known.missedAt, null)
  learn(known, { keys: ['c'], complete: true, at: '6', charsMax: 20 })
  assert.deepEqual([...known.lastSeen.keys()], ['c'])
})

test('the keys of newer records come first', () => {
  const known = knownColumns()
  learn(known, { keys: ['a', 'b'], complete: true, at: '1', ...roomy })
  learn(known, { keys: ['c', 'a'], complete: true, at: '2', ...roomy })
  assert.deepEqual(keysOf(known), ['a', 'c', 'b'])
})
