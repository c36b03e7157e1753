import type { Deps } from '../../context.ts'
import type { Payload } from './payload.ts'
import { TargetCache, type Reading } from './target-cache.ts'
import { loadTarget, type Target } from './target.ts'

export type Targets = {
  /**
   * The known state of this attempt's destination, without waiting if it is cached; undefined: it was deleted. Rejects when it
   * cannot be read.
   */
  of(payload: Payload): Promise<Target | undefined> | Target
  /** These destinations have changed. */
  readonly forget: (destinationIds: readonly string[]) => void
}

/** The destinations that a process sends to. They are read when needed, and are never older than the cache allows. */
export function createTargets(deps: Deps): Targets {
  const cache = new TargetCache<Target | undefined, Promise<void>>()

  const read = (payload: Payload): Reading<Target | undefined, Promise<void>> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const reading = cache.begin(payload.destination_id, { now: deps.clock.now(), waiting: promise })
    const done = (target: Target | undefined): void => {
      cache.ended(reading, target)
      if (target === undefined) cache.drop(reading)
      resolve()
    }
    loadTarget(deps, { workspaceId: payload.workspace_id, id: payload.destination_id }).then(done, (error: unknown) => {
      cache.drop(reading)
      reject(error)
    })
    return reading
  }

  /** Waits for a reading, and for another one when the destination changed meanwhile. */
  const wait = async (payload: Payload): Promise<Target | undefined> => {
    const askedAt = deps.clock.now()
    for (;;) {
      const reading = cache.find(payload.destination_id, deps.clock.now()) ?? read(payload)
      // oxlint-disable-next-line no-await-in-loop -- the next reading is needed only if this one cannot be used
      await reading.waiting
      if (reading.done !== undefined && cache.serves(reading, askedAt)) return reading.done.target
    }
  }

  return {
    of: (payload) => cache.find(payload.destination_id, deps.clock.now())?.done?.target ?? wait(payload),
    forget: (ids) => {
      for (const id of ids) cache.forget(id)
    },
  }
}
