import type { Database } from './db.ts'
import { sql } from './db.ts'

/**
 * Wake-ups between processes. A NOTIFY is a hint, never the truth: who misses one finds the work at the next sweep.
 * Sent outside the transactions that store events, because a NOTIFY inside one serialises commits.
 */
export type Wakeups = {
  /** Tells every process, this one included. At most 8,000 bytes. */
  tell(channel: string, payload: string): void
  hear(channel: string, heard: (payload: string) => void): Promise<void>
}

export function createWakeups(database: Database, failed: (error: unknown) => void): Wakeups {
  return {
    tell: (channel, payload) => {
      database.run(sql`select pg_notify(${channel}, ${payload})`).catch(failed)
    },
    hear: (channel, heard) => database.listen(channel, heard),
  }
}
