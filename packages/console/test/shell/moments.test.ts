import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spanText } from '../../src/parts/span.ts'
import { clockText, dateText, dayText, fullText, momentText, secondText, weekdayTextIn } from '../../src/ui/moments.ts'

const MIDNIGHT = new Date(2026, 10, 24).getTime()
const HOUR_MS = 3_600_000

test('a date has the American order', () => {
  assert.deepEqual([dayText(MIDNIGHT), dateText(MIDNIGHT)], ['Nov 24', 'Nov 24, 2026'])
  assert.equal(weekdayTextIn('Asia/Tokyo', '2026-11-23T15:00:00Z'), 'Tue, Nov 24, 00:00')
})

test('a time is on the 24-hour clock, and a day starts at 00:00', () => {
  assert.deepEqual(
    [clockText(MIDNIGHT), secondText(MIDNIGHT), momentText(MIDNIGHT), clockText(MIDNIGHT + 15 * HOUR_MS)],
    ['00:00', '00:00:00', 'Nov 24, 00:00', '15:00'],
  )
  assert.match(fullText(MIDNIGHT), /^Nov 24, 2026, 00:00:00 \S+$/)
})

test('the end of a time range shows its day only when that is another day', () => {
  assert.equal(spanText({ from: MIDNIGHT, to: MIDNIGHT + HOUR_MS }), 'Nov 24, 00:00 – 01:00')
  assert.equal(spanText({ from: MIDNIGHT, to: MIDNIGHT + 24 * HOUR_MS }), 'Nov 24, 00:00 – Nov 25, 00:00')
})
