import type { BreakerMemory } from './breaker.ts'
import type { RateMemory } from './rate-window.ts'

/** The information that the next sender of a destination needs from the last one. A part is null when there is none. */
export type LaneMemory = {
  readonly breaker: BreakerMemory | null
  readonly rate: RateMemory | null
  /** The number of manual resets of the breaker. Memory from before the last reset does not describe the breaker. */
  readonly breaker_resets: number
  /** The number of probes that people had requested. Absent in the data of an earlier version, which has none. */
  readonly probes_asked?: number
}

/** True when a person has requested a probe that the writer of this memory did not know of. */
export function isProbeAsked(memory: Pick<LaneMemory, 'probes_asked'>, probesAsked: number): boolean {
  return (memory.probes_asked ?? 0) !== probesAsked
}

/** The time before which nothing may be sent, for memory written at `now` (ms); null when something may. */
export function waitsUntil(memory: LaneMemory | null, now: number): number | null {
  const breaker = memory?.breaker ?? null
  return breaker?.state === 'open' && breaker.probe_in_ms !== null ? now + breaker.probe_in_ms : null
}

/** The same memory a while later. */
export function aged(memory: LaneMemory, byMs: number): LaneMemory {
  const { breaker, rate } = memory
  const older = (ms: number | null): number | null => (ms === null ? null : ms + byMs)
  return {
    ...memory,
    breaker:
      breaker === null
        ? null
        : {
            ...breaker,
            failing_ms: older(breaker.failing_ms),
            opened_ms: older(breaker.opened_ms),
            probe_in_ms: breaker.probe_in_ms === null ? null : breaker.probe_in_ms - byMs,
            counts: breaker.counts.map((count) => ({ ...count, age_ms: count.age_ms + byMs })),
          },
    rate:
      rate === null ? null : { ...rate, sends: rate.sends.map((send) => ({ ...send, age_ms: send.age_ms + byMs })) },
  }
}
