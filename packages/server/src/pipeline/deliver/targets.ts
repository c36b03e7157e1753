import type { Deps } from '../../context.ts'
import type { Cargo } from './cargo.ts'
import { TargetShelf, type Reading } from './target-shelf.ts'
import { loadTarget, type Target } from './target.ts'

export type Targets = {
  /** The destination of this attempt as it is known to be, at once where that is known; undefined: it was deleted. Rejects when it cannot be read. */
  of(cargo: Cargo): Promise<Target | undefined> | Target
  /** These destinations have changed. */
  readonly forget: (destinationIds: readonly string[]) => void
}

/** The destinations that a process sends to, read when they are needed and as old as the shelf allows. */
export function createTargets(deps: Deps): Targets {
  const shelf = new TargetShelf<Target | undefined, Promise<void>>()

  const read = (cargo: Cargo): Reading<Target | undefined, Promise<void>> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const reading = shelf.begin(cargo.destination_id, { now: deps.clock.now(), waiting: promise })
    const done = (target: Target | undefined): void => {
      shelf.ended(reading, target)
      if (target === undefined) shelf.drop(reading)
      resolve()
    }
    loadTarget(deps, { workspaceId: cargo.workspace_id, id: cargo.destination_id }).then(done, (error: unknown) => {
      shelf.drop(reading)
      reject(error)
    })
    return reading
  }

  /** Waits for a reading, and for another one when the destination changed under way. */
  const wait = async (cargo: Cargo): Promise<Target | undefined> => {
    const askedAt = deps.clock.now()
    for (;;) {
      const reading = shelf.find(cargo.destination_id, deps.clock.now()) ?? read(cargo)
      // oxlint-disable-next-line no-await-in-loop -- the next one is needed only when this one was in vain
      await reading.waiting
      if (reading.done !== undefined && shelf.serves(reading, askedAt)) return reading.done.target
    }
  }

  return {
    of: (cargo) => shelf.find(cargo.destination_id, deps.clock.now())?.done?.target ?? wait(cargo),
    forget: (ids) => {
      for (const id of ids) shelf.forget(id)
    },
  }
}
