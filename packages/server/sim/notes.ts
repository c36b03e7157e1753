import { aged, isProbeAsked, waitsUntil, type LaneMemory } from '../src/domain/delivery/lane-memory.ts'
import type { Note } from '../src/pipeline/deliver/ports.ts'
import type { LaneRow } from './rows.ts'

/** Writes the memory for the next owner of the lane, unless the fence has moved on or there is a newer note. */
export function keepNote(lane: LaneRow, { fence, serial, memory }: Note, now: number): void {
  if (lane.fence !== fence || lane.note_serial >= serial) return
  lane.memory = memory
  lane.remembered_at = now
  lane.note_serial = serial
  // A person may close the breaker or request a probe while this is under way. Then the lane does not wait.
  const isCurrent =
    memory?.breaker_resets === lane.settings.breaker_resets && !isProbeAsked(memory, lane.settings.probes_asked)
  lane.waits_until = isCurrent ? waitsUntil(memory, now) : null
}

/** The memory that a new owner gets, aged to the present. Some plants leave parts of it out. */
export function recalled(
  { memory, remembered_at }: LaneRow,
  { now, plant }: { now: number; plant: string | undefined },
): LaneMemory | null {
  if (memory === null) return null
  const later = aged(memory, now - remembered_at)
  if (plant === 'no-breaker-handover') return { ...later, breaker: null }
  if (plant === 'double-burst') return { ...later, rate: null }
  if (plant === 'no-probe' && later.breaker !== null)
    return { ...later, breaker: { ...later.breaker, probe_in_ms: 1e12 } }
  return later
}
