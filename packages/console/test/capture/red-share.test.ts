import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redOf } from '../../src/parts/red-share.ts'

const counts = { submissions: 0, rejected: 0, delivered: 0, failed: 0 }

test('red is a share inside a bar: retries never make it higher than its requests', () => {
  assert.equal(redOf({ ...counts, submissions: 10, delivered: 10 }), 0)
  assert.equal(redOf({ ...counts, submissions: 10, delivered: 5, failed: 5 }), 5)
  assert.equal(redOf({ ...counts, submissions: 10, failed: 40 }), 10)
  assert.equal(redOf({ ...counts, submissions: 10, rejected: 3, failed: 40 }), 13)
  assert.equal(redOf({ ...counts, failed: 40 }), 0)
})

test('one failed attempt paints one of many events red, not the whole minute', () => {
  assert.equal(redOf({ ...counts, submissions: 600, failed: 1 }), 1)
})
