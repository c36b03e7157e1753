type Limits = {
  readonly atOnce: number
  /** Limits the work that waits for its turn. `busy` makes the error for more; absent: any number waits. */
  readonly waiting?: { readonly max: number; readonly busy: () => Error }
}

/** Runs at most `atOnce` pieces of work at a time, in order. */
export function createTurns({ atOnce, waiting }: Limits): <T>(work: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < atOnce) running += 1
    else {
      if (waiting !== undefined && queue.length >= waiting.max) throw waiting.busy()
      await new Promise<void>((resolve) => queue.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
