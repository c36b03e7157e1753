import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketSeconds } from './time-bucket.ts'

const HOUR_MS = 3_600_000

const of = (hours: number, hoursOnly = false): number => bucketSeconds({ rangeMs: hours * HOUR_MS, hoursOnly })

test('buckets are from a minute to a day long, so that there are about a hundred of them', () => {
  assert.deepEqual(
    [0.1, 1, 2, 6, 10, 24, 30, 48, 120, 168, 720, 9_600].map((hours) => of(hours)),
    [60, 60, 60, 300, 300, 900, 900, 3_600, 3_600, 21_600, 21_600, 86_400],
  )
  assert.deepEqual(
    [0.1, 24, 168].map((hours) => of(hours, true)),
    [3_600, 3_600, 21_600],
  )
})
