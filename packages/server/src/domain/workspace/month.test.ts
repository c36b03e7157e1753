import assert from 'node:assert/strict'
import { test } from 'node:test'
import { monthOf, nextMonthAt } from './month.ts'

test('a month is named by its first day and ends where the next one starts, in UTC', () => {
  for (const [from, to, name] of [
    ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z', '2026-01-01'],
    ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z', '2026-12-01'],
    ['2028-02-29T12:00:00.000Z', '2028-03-01T00:00:00.000Z', '2028-02-01'],
  ] as const) {
    assert.deepEqual([monthOf(Date.parse(from)), nextMonthAt(Date.parse(from))], [name, Date.parse(to)])
  }
})
