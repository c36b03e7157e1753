import { setTimeout as sleep } from 'node:timers/promises'

/** How long requests wait for a database that is away, from its first failure. After that they fail at once until it is back. */
export const PATIENCE_MS = 10_000
const PAUSE_MS = { first: 20, max: 200 } as const

/** Runs `work` again while the database is away. `mayRepeat`: the error means that nothing was done. */
export type Patience = <T>(work: () => Promise<T>, mayRepeat: (error: unknown) => boolean) => Promise<T>

/** One for each pool, so that all of its statements know since when the database has been away. Real time: it waits for another process. */
export function createPatience(): Patience {
  let awaySince: number | undefined
  return async (work, mayRepeat) => {
    for (let pauseMs: number = PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.max)) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one attempt at a time, each after a pause
        const done = await work()
        awaySince = undefined
        return done
      } catch (error) {
        if (!mayRepeat(error)) throw error
        awaySince ??= performance.now()
        if (performance.now() - awaySince >= PATIENCE_MS) throw error
      }
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(pauseMs)
    }
  }
}
