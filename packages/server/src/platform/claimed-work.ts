import type { Clock } from './clock.ts'

type ClaimedWork<Row> = {
  /** The most that is under way together. */
  readonly atOnce: number
  /** Claims nothing more when it is true. */
  readonly isStopping: () => boolean
  readonly claim: (asked: { readonly limit: number; readonly underWay: readonly Row[] }) => Promise<readonly Row[]>
  /** It never rejects. */
  readonly work: (row: Row) => Promise<void>
  /** Called every second with the rows under way. It never rejects. */
  readonly look?: (underWay: readonly Row[]) => Promise<void>
}

const LOOK_MS = 1_000

/**
 * Works on claimed rows until nothing is due, and resolves to their number. It claims more when a row has ended and every second, so slow rows delay no row
 * that comes later.
 */
export async function runClaimed<Row>(clock: Clock, { atOnce, isStopping, ...on }: ClaimedWork<Row>): Promise<number> {
  const running = new Map<Promise<void>, Row>()
  let claimed = 0
  const claim = async (): Promise<readonly Row[]> => {
    const limit = isStopping() ? 0 : atOnce - running.size
    try {
      return limit <= 0 ? [] : await on.claim({ limit, underWay: [...running.values()] })
    } catch (cause) {
      // The rows under way continue, and the next look claims again.
      if (running.size > 0) return []
      throw cause
    }
  }
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- claims as many as there is room for
    for (const row of await claim()) {
      const one = on.work(row).finally(() => running.delete(one))
      running.set(one, row)
      claimed += 1
    }
    if (running.size === 0) return claimed
    const look = Promise.withResolvers<void>()
    const cancel = clock.wakeAt(clock.now() + LOOK_MS, look.resolve)
    // oxlint-disable-next-line no-await-in-loop -- until one of them has ended, or the next look
    await Promise.race([...running.keys(), look.promise])
    cancel()
    // oxlint-disable-next-line no-await-in-loop -- before it claims more
    await on.look?.([...running.values()])
  }
}
