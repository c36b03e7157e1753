const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400]
const BUCKETS_SECONDS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY] as const
/** People read a chart by eye, so it needs few more than a hundred points. */
const POINTS_MAX = 120

/**
 * The length of the buckets for a range, in seconds: the shortest that gives about a hundred buckets, up to a day. `hoursOnly`:
 * the data is so old that it exists only by the hour.
 */
export function bucketSeconds({
  rangeMs,
  hoursOnly,
}: {
  readonly rangeMs: number
  readonly hoursOnly: boolean
}): number {
  const fitting = BUCKETS_SECONDS.filter((seconds) => !hoursOnly || seconds >= HOUR)
  return fitting.find((seconds) => rangeMs / 1_000 / seconds <= POINTS_MAX) ?? DAY
}
