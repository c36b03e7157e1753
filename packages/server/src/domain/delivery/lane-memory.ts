import type { BreakerMemory } from './breaker.ts'
import type { RateMemory } from './rate-window.ts'

/** What the next sender of a destination must know of what the last one did; null in its parts: nothing. */
export type LaneMemory = {
  readonly breaker: BreakerMemory | null
  readonly rate: RateMemory | null
  /** How often the breaker had been closed by hand; what was noted before the last time says nothing of the breaker. */
  readonly breaker_resets: number
  /** How many probes people had asked for; absent in what an earlier version stored, which knows of none. */
  readonly probes_asked?: number
}

/** True when a person has asked for a probe that the writer of this memory did not know of. */
export function isProbeAsked(memory: Pick<LaneMemory, 'probes_asked'>, probesAsked: number): boolean {
  return (memory.probes_asked ?? 0) !== probesAsked
}

/** Until when nothing is to be sent, when it was noted at `now` (ms); null when something may. */
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
