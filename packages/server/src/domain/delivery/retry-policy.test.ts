import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_SCHEDULE_SECONDS } from '@postroad/contract'
import { nextAttemptAt, readRetryAfter, retryDelayMs } from './retry-policy.ts'

const schedule = DEFAULT_SCHEDULE_SECONDS
const DAY_MS = 86_400_000
const middle = 0.5

test('the default schedule is dense at first, then every 2 h up to 80 h', () => {
  assert.deepEqual(schedule.slice(0, 10), [0, 5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 7_200])
  assert.ok(schedule.slice(8).every((seconds) => seconds === 7_200))
  const hours = schedule.reduce((sum, seconds) => sum + seconds, 0) / 3_600
  assert.ok(hours > 78 && hours <= 80, `${hours} h`)
})

test('the first attempt is due immediately', () => {
  assert.equal(nextAttemptAt({ failures: 0, schedule, now: 1_000, random: 0.9 }), 1_000)
})

test('each failure moves one step down the schedule, and no attempt follows the last step', () => {
  assert.equal(nextAttemptAt({ failures: 1, schedule, now: 1_000, random: middle }), 6_000)
  assert.equal(nextAttemptAt({ failures: 2, schedule, now: 0, random: middle }), 30_000)
  assert.equal(nextAttemptAt({ failures: schedule.length, schedule, now: 0, random: middle }), null)
  assert.equal(retryDelayMs({ failures: 2, schedule: [0, 60], random: middle }), null)
})

test('each step varies by 20 % either way', () => {
  assert.equal(retryDelayMs({ failures: 1, schedule: [0, 100], random: 0 }), 80_000)
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
      const delayMs = retryDelayMs({ failures: 1, schedule: [0, 100], random }) ?? NaN
      assert.ok(delayMs >= 80_000 && delayMs <= 120_000, String(delayMs))
    }),
  )
})

test('Retry-After lengthens the wait, never shortens it, and is capped at 24 h', () => {
  const step = { failures: 1, schedule: [0, 100], random: middle }
  assert.equal(retryDelayMs({ ...step, retryAfterSeconds: 300 }), 300_000)
  assert.equal(retryDelayMs({ ...step, retryAfterSeconds: 3 }), 100_000)
  assert.equal(retryDelayMs({ ...step, retryAfterSeconds: 9_999_999_999 }), DAY_MS)
  assert.equal(retryDelayMs({ ...step, retryAfterSeconds: null }), 100_000)
})

test('Retry-After does not lengthen the schedule', () => {
  assert.equal(retryDelayMs({ failures: 2, schedule: [0, 100], random: middle, retryAfterSeconds: 5 }), null)
})

test('Retry-After is read as seconds or as any of the three HTTP dates', () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 30)
  assert.equal(readRetryAfter('120', now), 120)
  assert.equal(readRetryAfter(' 0 ', now), 0)
  assert.equal(readRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', now), 7)
  assert.equal(readRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', now), 7)
  assert.equal(readRetryAfter('Sun Nov  6 08:49:37 1994', now), 7)
  assert.equal(readRetryAfter('Sun, 06 Nov 1994 08:49:00 GMT', now), 0)
})

test('a Retry-After in any other form is ignored', () => {
  const nonsense = [
    '',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'soon',
    '99999999999',
    'Sun, 99 Foo 2026 00:00:00 GMT',
    '2026-01-01',
  ]
  for (const header of nonsense) assert.equal(readRetryAfter(header, 0), null, header)
})

test('for any Retry-After, the delay stays between the step and 24 h', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.integer().map(String)), (header) => {
      const retryAfterSeconds = readRetryAfter(header, 0)
      const delayMs = retryDelayMs({ failures: 1, schedule: [0, 100], random: middle, retryAfterSeconds }) ?? NaN
      assert.ok(delayMs >= 100_000 && delayMs <= DAY_MS, `${header}: ${delayMs}`)
    }),
  )
})
