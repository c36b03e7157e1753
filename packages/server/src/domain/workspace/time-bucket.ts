const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400]
const BUCKETS_SECONDS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY] as const
/** A chart is read by eye: a few more than a hundred points at most. */
const POINTS_MAX = 120

/**
 * The length of the buckets for a range, in seconds: the shortest that gives about a hundred, a day at most. `hoursOnly`: of
 * what is so old that hours are the finest there is.
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
