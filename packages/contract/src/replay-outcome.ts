/** The outcome of the deliveries that a replay sent again. */
type ReplayOutcome = {
  readonly delivered: number
  readonly failed: number
  readonly cancelled: number
  readonly under_way: number
  readonly unknown: number
}

/** `30 delivered, 5 failed, 2 under way`; nothing while there are none. The console and the command line share it. */
export function outcomeText({ delivered, failed, cancelled, under_way, unknown }: ReplayOutcome): string {
  const parts: readonly (readonly [number, string])[] = [
    [delivered, 'delivered'],
    [failed, 'failed'],
    [cancelled, 'canceled'],
    [under_way, 'under way'],
    [unknown, 'with an unknown result'],
  ]
  return parts.flatMap(([count, word]) => (count === 0 ? [] : [`${count.toLocaleString('en')} ${word}`])).join(', ')
}
