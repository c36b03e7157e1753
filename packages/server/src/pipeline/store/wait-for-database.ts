import type { Deps } from '../../context.ts'
import { serverTimes } from '../../platform/server-facts.ts'
import { away, type Committed, type Verified } from '../types.ts'

/** Stores an event by `attempt`, which makes new ids each time, and again when a database that was away is back. */
export type WaitForDatabase = (verified: Verified, attempt: () => Promise<Committed>) => Promise<Committed>

/** How long events wait for a database that is away, from its first failure. After that they get 503 at once until it is back. */
const WAIT_MS_MAX = 10_000
const PAUSE_MS = { first: 25, max: 200 } as const
/** Half of the events that may wait for the group commit, so there is room for all of them and for new ones. */
const EVENTS_MAX = 5_000
const BYTES_MAX = 134_217_728

/** `back`: whether the database was back in time. */
type Outage = { readonly back: Promise<boolean> }

/**
 * While PostgreSQL restarts, senders wait instead of getting 503. Only events wait whose commit certainly did not happen and never will.
 * One look at a time finds out whether the database is back, for all of them.
 */
export function createWaitForDatabase(deps: Pick<Deps, 'clock' | 'database'>): WaitForDatabase {
  const { clock } = deps
  let outage: Outage | undefined
  let [events, bytes] = [0, 0]
  const begin = (): Outage => {
    const back = untilBack(deps, clock.now() + WAIT_MS_MAX).then((isBack) => {
      if (isBack) outage = undefined
      return isBack
    })
    return { back }
  }
  const wait = async (size: number): Promise<boolean> => {
    if (events >= EVENTS_MAX || (events > 0 && bytes + size > BYTES_MAX)) return false
    events += 1
    bytes += size
    try {
      return await (outage ??= begin()).back
    } finally {
      events -= 1
      bytes -= size
    }
  }
  return async ({ content }, attempt) => {
    const until = clock.now() + WAIT_MS_MAX
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one attempt at a time
      const answer = await attempt()
      if (answer.kind === 'stored') outage = undefined
      if (answer !== away) return answer
      // oxlint-disable-next-line no-await-in-loop -- as above
      if (clock.now() >= until || !(await wait(content.length))) return answer
    }
  }
}

async function untilBack({ clock, database }: Pick<Deps, 'clock' | 'database'>, until: number): Promise<boolean> {
  for (let pauseMs: number = PAUSE_MS.first; clock.now() < until; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.max)) {
    // oxlint-disable-next-line no-await-in-loop -- one look at a time, each after a pause
    await new Promise<void>((resolve) => clock.wakeAt(clock.now() + pauseMs, resolve))
    try {
      // oxlint-disable-next-line no-await-in-loop -- as above
      await serverTimes(database)
      return true
    } catch {
      // It is still away.
    }
  }
  return false
}
