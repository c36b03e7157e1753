type Counts = {
  readonly submissions: number
  readonly rejected: number
  readonly delivered: number
  readonly failed: number
}

/**
 * The part of a bar of `submissions` and `rejected` requests that is red: the rejected ones, and of the events the share whose
 * attempts failed. Attempts outnumber events when Postroad retries, so their count would not fit into the bar.
 */
export function redOf({ submissions, rejected, delivered, failed }: Counts): number {
  const share = failed === 0 ? 0 : failed / (failed + delivered)
  return rejected + Math.min(failed, submissions * share)
}
