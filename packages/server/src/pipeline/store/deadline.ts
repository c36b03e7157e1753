import type { Deps } from '../../context.ts'
import { stopwatch } from '../../platform/clock.ts'
import { serverTimes } from '../../platform/server-facts.ts'

/** The latest time, by PostgreSQL's clock, at which a statement that is sent now may start. */
export type Deadline = {
  next(): Promise<Date>
  /** The start of the PostgreSQL server that was asked last. */
  serverStart(): number | undefined
  /** A statement was void, so PostgreSQL's clock is not where this process thought it was. */
  forget(): void
}

/**
 * A statement waits for a connection and for the network. One that started much later could commit after its senders got a 503.
 */
const BEGINS_WITHIN_MS = 5_000
/** Clocks drift apart by much less than a second in this time. */
const KNOWN_MS = 60_000

/** Reads PostgreSQL's time once a minute, beside the statements; in between, its clock advances as fast as ours. */
export function createDeadline({ database, retryLog }: Deps): Deadline {
  type Known = { readonly now: number; readonly sinceMs: () => number }
  let known: Known | undefined
  let serverStart: number | undefined
  let isAsking = false
  const ask = async (): Promise<Known> => {
    const sinceMs = stopwatch()
    const { now, startedAt } = await serverTimes(database)
    known = { now, sinceMs }
    serverStart = startedAt
    return known
  }
  const askBeside = (): void => {
    if (isAsking) return
    isAsking = true
    ask()
      .catch((cause: unknown) => retryLog.warn('ingest.clock_not_asked', { cause }))
      .finally(() => (isAsking = false))
  }
  return {
    next: async () => {
      const { now, sinceMs } = known ?? (await ask())
      if (sinceMs() > KNOWN_MS) askBeside()
      return new Date(now + sinceMs() + BEGINS_WITHIN_MS)
    },
    serverStart: () => serverStart,
    forget: () => {
      known = undefined
    },
  }
}
