import { dueAt, mustWait } from './rows.ts'
import type { SimStore } from './store.ts'

/** A person requests an immediate probe of a lane. Returns false when its breaker is not open, or no delivery waits. */
// oxlint-disable-next-line max-params -- like all operations here: the time and the subject
export function probeLane(store: SimStore, now: number, key: string): boolean {
  const lane = store.lane(key)
  const { memory, settings } = lane
  const waiting = lane.deliveries.filter((row) => row.next_attempt_at !== null && !mustWait(row, lane))
  const [first] = waiting.toSorted((a, b) => dueAt(a) - dueAt(b))
  const isOpen = memory?.breaker?.state === 'open' && memory.breaker_resets === settings.breaker_resets
  if (!lane.enabled || !isOpen || first === undefined) return false
  first.next_attempt_at = Math.min(dueAt(first), now)
  lane.work_at = null
  lane.settings = { ...settings, probes_asked: settings.probes_asked + 1 }
  lane.waits_until = null
  return true
}
