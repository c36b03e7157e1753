import { randomUUID } from 'node:crypto'
import type { Database } from './db.ts'
import { sql } from './db.ts'

/**
 * Wake-ups between processes. A NOTIFY is only a hint: a process that misses one finds the work at its next sweep. It is sent
 * outside of the transactions that store events, because a NOTIFY inside one serializes commits.
 */
export type Wakeups = {
  /** Notifies every process, including this one. At most 8,000 bytes. */
  tell(channel: string, payload: string): void
  hear(channel: string, heard: (payload: string) => void): Promise<void>
  /** Resolves once this process has heard everything that any process had sent before. PostgreSQL preserves the order. */
  caughtUp(): Promise<void>
}

const ECHO = 'postroad_echo'

export function createWakeups(database: Database, failed: (error: unknown) => void): Wakeups {
  const waiting = new Map<string, () => void>()
  let listening: Promise<void> | undefined
  return {
    tell: (channel, payload) => {
      database.run(sql`select pg_notify(${channel}, ${payload})`).catch(failed)
    },
    hear: (channel, heard) => database.listen(channel, heard),
    caughtUp: async () => {
      listening ??= database.listen(ECHO, (id) => waiting.get(id)?.())
      await listening
      const [id, heard] = [randomUUID(), Promise.withResolvers<void>()]
      waiting.set(id, heard.resolve)
      await database.run(sql`select pg_notify(${ECHO}, ${id})`)
      await heard.promise
      waiting.delete(id)
    },
  }
}
