import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addAt, BOUNDS_MS, quantileMs } from './latency-histogram.ts'

const placeOf = (ms: number): number => BOUNDS_MS.filter((bound) => bound <= ms).length

test('the bounds start with 1, 2, 3, 4, 6, 8, 12, rise, and exceed any retry schedule', () => {
  assert.deepEqual(BOUNDS_MS.slice(0, 9), [1, 2, 3, 4, 6, 8, 12, 16, 24])
  assert.deepEqual(
    BOUNDS_MS.toSorted((a, b) => a - b),
    BOUNDS_MS,
  )
  assert.equal(new Set(BOUNDS_MS).size, BOUNDS_MS.length)
  assert.ok((BOUNDS_MS.at(-1) ?? 0) > (80 * 3_600_000) / 2)
})

test('for any counts, a quantile is between the bounds of its place', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 100_000_000 }), { minLength: 1, maxLength: 200 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (took, share) => {
        const histogram: number[] = []
        for (const ms of took) addAt(histogram, placeOf(ms), 1)
        const exact = took.toSorted((a, b) => a - b)[Math.ceil(share * took.length - 1e-9) - 1] ?? 0
        const said = quantileMs(histogram, share) ?? -1
        const place = placeOf(exact)
        assert.ok(
          said >= (BOUNDS_MS[place - 1] ?? 0) - 1 && said <= (BOUNDS_MS[place] ?? exact) + 1,
          `${said} for ${exact}`,
        )
      },
    ),
  )
})

test('an empty histogram has no quantile', () => {
  assert.equal(quantileMs([], 0.5), null)
  assert.equal(quantileMs([0, 0], 0.95), null)
})
