import { LIMITS } from '@postroad/contract'
import type { Deps } from '../context.ts'
import { dropDays, makeDays } from '../platform/partitions.ts'
import { deleteEndedUrls } from '../resources/credentials/queries.ts'
import { pruneKeys } from '../resources/idempotency-keys/queries.ts'
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
const PRUNED_AT_ONCE_MAX = 10_000

/** Once an hour: makes the days to come, drops those past retention, and removes what has ended: former URLs, idempotency keys. */
export function createUpkeep(deps: Deps): Ticker {
  return createTicker(deps, {
    everyMs: HOUR_MS,
    name: 'upkeep',
    work: async () => {
      const now = deps.clock.now()
      const made = await makeDays(deps.database, DAY_TABLES, { now, daysAhead: DAYS_AHEAD })
      const dropped = await dropDays(deps.database, DAY_TABLES, { now, keepDays: KEEP_DAYS })
      await deleteEndedUrls(deps.database, new Date(now - HOUR_MS))
      const pruned = await pruneEndedKeys(deps, now)
      if (made.length + dropped.length + pruned > 0) deps.log.debug('upkeep.done', { made: made.length, dropped: dropped.length, keys: pruned })
    },
  })
}

/** In pieces, so that no statement runs long. */
async function pruneEndedKeys({ database }: Deps, now: number): Promise<number> {
  const since = new Date(now - LIMITS.idempotencyKeptMs)
  let pruned = 0
  for (let last = PRUNED_AT_ONCE_MAX; last === PRUNED_AT_ONCE_MAX; pruned += last) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    last = await pruneKeys(database, { since, limit: PRUNED_AT_ONCE_MAX })
  }
  return pruned
}
