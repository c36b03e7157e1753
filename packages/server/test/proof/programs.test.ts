import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tryPrograms } from './try-programs.ts'

test('random programs leave no trace outside of their sandbox, and stay within their budget', () => {
  const ended = tryPrograms({ first: 0, count: 300 })
  assert.ok(ended > 50, `${ended} programs ran to their end`)
})
