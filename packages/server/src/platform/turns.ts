import pLimit from 'p-limit'

type Limits = {
  readonly atOnce: number
  /** Limits the work that waits for its turn. `busy` makes the error for more; absent: any number waits. */
  readonly waiting?: { readonly max: number; readonly busy: () => Error }
}

/** Runs at most `atOnce` pieces of work at a time, in order. */
export function createTurns({ atOnce, waiting }: Limits): <T>(work: () => Promise<T>) => Promise<T> {
  const limit = pLimit(atOnce)
  return async (work) => {
    // Work whose turn comes next still counts as pending.
    const taken = limit.activeCount + limit.pendingCount
    if (waiting !== undefined && taken >= atOnce + waiting.max) throw waiting.busy()
    return limit(work)
  }
}
