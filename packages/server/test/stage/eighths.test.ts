import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inEighth } from './eighths.ts'

test('the eighths of a walk have every item once between them, and are equally large', () => {
  const items = Array.from({ length: 230 }, (_item, index) => index)
  const parts = Array.from({ length: 8 }, (_part, eighth) => inEighth(items, eighth))
  assert.deepEqual(
    parts.flat().toSorted((a, b) => a - b),
    items,
  )
  for (const { length } of parts) assert.ok(length === 28 || length === 29, String(length))
})
