import type { HeldBy } from '@postroad/contract'
import { aged } from '../../../domain/delivery/lane-memory.ts'
import { RATE_PERIODS_MS, RateWindow } from '../../../domain/delivery/rate-window.ts'
import { presentBreaker } from '../lanes/index.ts'
import type { LaneRow } from './queries.ts'

/** The reason why this lane starts nothing now, from its stored state; undefined when it may. Order is checked for each delivery, not here. */
export function holdOf(row: LaneRow, now: number): HeldBy | undefined {
  const breaker = presentBreaker(row.lane)
  const { last_error, last_status, opened_at, next_probe_at } = breaker
  const held = { last_error, last_status, since: null, next_probe_at: null, behind: null }
  if (!row.enabled)
    return {
      ...held,
      cause: OFF_CAUSES[row.disabled_reason ?? 'by_hand'],
      since: row.disabled_at?.toISOString() ?? null,
    }
  switch (breaker.state) {
    case 'open':
      return { ...held, cause: 'breaker_open', since: opened_at, next_probe_at: inFuture(next_probe_at, now) }
    case 'half_open':
      return { ...held, cause: 'breaker_open', since: opened_at }
    case 'recovering':
      return { ...held, cause: 'breaker_recovering', since: opened_at }
    case 'closed':
      if (isSpent(row, now)) return { ...held, cause: 'rate_limit' }
      return row.busy >= row.max_in_flight ? { ...held, cause: 'in_flight' } : undefined
  }
}

const OFF_CAUSES = {
  by_hand: 'destination_off',
  gone: 'destination_disabled',
  failing: 'destination_disabled',
} as const

const inFuture = (moment: string | null, now: number): string | null =>
  moment === null || Date.parse(moment) <= now ? null : moment

/** True when the rate limit allows no attempt now. Attempts that had started when the sender stored its state count from that time. */
function isSpent({ rate_count: count, rate_per, lane }: LaneRow, now: number): boolean {
  const { memory, remembered_at } = lane
  if (count === null || rate_per === null || memory === null || remembered_at === null) return false
  const ageMs = now - Date.parse(remembered_at)
  const { rate } = aged(memory, ageMs)
  if (rate === null) return false
  const sends = rate.pending === 0 ? rate.sends : [...rate.sends, { age_ms: ageMs, count: rate.pending }]
  const window = RateWindow.recall({ sends, pending: 0 }, now)
  return window.freeAt({ count, per_ms: RATE_PERIODS_MS[rate_per] }, { pending: 0, now }) > now
}
