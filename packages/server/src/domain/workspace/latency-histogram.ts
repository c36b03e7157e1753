/**
 * Counts of durations in few numbers that can be added. Place n counts durations of at least `BOUNDS_MS[n - 1]` and less than
 * `BOUNDS_MS[n]` milliseconds; place 0 those below one. The bounds are 1, 2, 3, 4, 6, 8, 12, 16 … up to three days, so a value
 * of 2 ms or more that is read from them is off by at most half. They are stored in rollups, so they never change.
 */
export const BOUNDS_MS: readonly number[] = [
  1,
  ...Array.from({ length: 28 }, (_unused, power) => [2 ** (power + 1), 3 * 2 ** power]).flat(),
]
  .toSorted((a, b) => a - b)
  .slice(0, 56)

export type Histogram = readonly number[]

/**
 * The duration that this share (0 to 1) did not exceed, in whole milliseconds; null when nothing was counted. Durations between
 * two bounds are assumed to be evenly distributed.
 */
export function quantileMs(histogram: Histogram, share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const wanted = share * total
  let before = 0
  for (const [place, count] of histogram.entries()) {
    if (count > 0 && before + count >= wanted) {
      const [from, to] = [BOUNDS_MS[place - 1] ?? 0, BOUNDS_MS[place] ?? BOUNDS_MS[place - 1] ?? 0]
      return Math.round(from + (to - from) * ((wanted - before) / count))
    }
    before += count
  }
  return BOUNDS_MS.at(-1) ?? null
}

/** Adds `count` at a place, and extends the histogram as far as needed. */
export function addAt(histogram: number[], place: number, count: number): void {
  while (histogram.length <= place) histogram.push(0)
  histogram[place] = (histogram[place] ?? 0) + count
}
