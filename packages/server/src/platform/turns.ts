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

/** The same for each owner separately, such as a workspace. */
export function createTurnsOfEach(limits: Limits): <T>(owner: string, work: () => Promise<T>) => Promise<T> {
  const owners = new Map<string, { readonly inTurn: ReturnType<typeof createTurns>; left: number }>()
  return async (owner, work) => {
    const of = owners.get(owner) ?? { inTurn: createTurns(limits), left: 0 }
    owners.set(owner, of)
    of.left += 1
    try {
      return await of.inTurn(work)
    } finally {
      of.left -= 1
      if (of.left === 0) owners.delete(owner)
    }
  }
}
