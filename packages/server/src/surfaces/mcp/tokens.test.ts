import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutTo } from './cut.ts'
import { tokensIn } from './tokens.ts'

test('the estimate of a long text stops above the most that matters', () => {
  const long = '1,'.repeat(1_000_000)
  assert.equal(tokensIn(long, 100), 101)
  assert.ok(tokensIn('1,'.repeat(10), 100) < 20)
})

test('a value of megabytes is cut to what fits, and names what is missing', () => {
  const { value, missing } = cutTo({ items: Array.from({ length: 1_000_000 }, () => 1) }, 500)
  assert.ok(tokensIn(JSON.stringify({ value, missing })) <= 500)
  assert.match(missing[0] ?? '', /^items: \d+ of 1000000 items$/)
})
