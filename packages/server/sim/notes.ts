import { aged, isProbeAsked, waitsUntil, type LaneMemory } from '../src/domain/delivery/lane-memory.ts'
import type { Note } from '../src/pipeline/deliver/ports.ts'
import type { LaneRow } from './rows.ts'

/** Writes what the next owner of the lane is to know, unless the fence has moved on or a newer note is there. */
export function keepNote(lane: LaneRow, { fence, serial, memory }: Note, now: number): void {
  if (lane.fence !== fence || lane.note_serial >= serial) return
  lane.memory = memory
  lane.remembered_at = now
  lane.note_serial = serial
  // A person may close the breaker or ask for a probe while this is on its way: then the lane does not wait.
  const isCurrent =
    memory?.breaker_resets === lane.settings.breaker_resets && !isProbeAsked(memory, lane.settings.probes_asked)
  lane.waits_until = isCurrent ? waitsUntil(memory, now) : null
}

/** What a new owner is told, as old as it is by now; less of it when that is what is planted. */
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
