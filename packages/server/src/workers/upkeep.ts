import type { Deps } from '../context.ts'
import { dropDays, makeDays } from '../platform/partitions.ts'
import { deleteEndedUrls } from '../resources/credentials/queries.ts'
import { createTicker, type Ticker } from './ticker.ts'

/** Tables that are kept by day and dropped by day. */
export const DAY_TABLES = [
  { name: 'submissions' },
  { name: 'records' },
  { name: 'deliveries', storage: 'with (fillfactor = 85)' },
  { name: 'delivery_attempts', storage: 'with (fillfactor = 70)' },
] as const

const HOUR_MS = 3_600_000
const DAYS_AHEAD = 3
const KEEP_DAYS = 30

/** Once an hour: makes the days to come, drops those past retention, and the credentials of URLs that ended. */
export function createUpkeep(deps: Deps): Ticker {
  return createTicker(deps, {
    everyMs: HOUR_MS,
    name: 'upkeep',
    work: async () => {
      const now = deps.clock.now()
      const made = await makeDays(deps.database, DAY_TABLES, { now, daysAhead: DAYS_AHEAD })
      const dropped = await dropDays(deps.database, DAY_TABLES, { now, keepDays: KEEP_DAYS })
      await deleteEndedUrls(deps.database, new Date(now - HOUR_MS))
      if (made.length + dropped.length > 0) deps.log.debug('upkeep.done', { made: made.length, dropped: dropped.length })
    },
  })
}
