import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** The fields of a line about work that failed and is retried. */
export type RetryFields = { readonly cause: unknown } & Readonly<Record<string, unknown>>

/** Logs failures of retried work: the first immediately, then one line a minute with their count and the last cause. */
export type RetryLog = {
  /** `event` names the line, as in `log.warn`; failures are counted by it. */
  warn(event: string, fields: RetryFields): void
  error(event: string, fields: RetryFields): void
  /** Writes the counts that are not written yet, and logs each later failure immediately. */
  close(): void
}

type Level = 'warn' | 'error'
type Counted = { since: number; times: number; last: RetryFields; readonly level: Level; cancel: () => void }

const LINE_EVERY_MS = 60_000

/** A loop retries many times a second, and a line for each attempt would bury the rest of the log. */
export function createRetryLog(log: Log, clock: Clock): RetryLog {
  const counted = new Map<string, Counted>()
  let closed = false

  const count = (event: string, { level, fields }: { level: Level; fields: RetryFields }): void => {
    const known = counted.get(event)
    if (known !== undefined) {
      known.times += 1
      known.last = fields
      return
    }
    log[level](event, fields)
    if (closed) return
    const now = clock.now()
    const cancel = clock.wakeAt(now + LINE_EVERY_MS, () => minuteOver(event))
    counted.set(event, { since: now, times: 0, last: fields, level, cancel })
  }
  const write = (event: string, { level, last, times, since }: Counted): void => {
    if (times > 0) log[level](event, { times, since: new Date(since).toISOString(), ...last })
  }
  const minuteOver = (event: string): void => {
    const known = counted.get(event)
    if (known === undefined) return
    write(event, known)
    // After a quiet minute, the next failure is news again.
    if (known.times === 0) return void counted.delete(event)
    const now = clock.now()
    known.since = now
    known.times = 0
    known.cancel = clock.wakeAt(now + LINE_EVERY_MS, () => minuteOver(event))
  }

  return {
    warn: (event, fields) => count(event, { level: 'warn', fields }),
    error: (event, fields) => count(event, { level: 'error', fields }),
    close: () => {
      closed = true
      for (const [event, known] of counted) {
        known.cancel()
        write(event, known)
      }
      counted.clear()
    },
  }
}
