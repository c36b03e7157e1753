import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tryPrograms } from './try-programs.ts'

test('a hundred thousand random programs leave no trace outside of their sandbox', () => {
  const ended = tryPrograms({ first: 1_000, count: 100_000 })
  assert.ok(ended > 10_000, `${ended} programs ran to their end`)
})
