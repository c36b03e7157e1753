import type { BreakerMemory, BreakerState, LastFailure } from '../../../domain/delivery/breaker.ts'
import { isProbeAsked, type LaneMemory } from '../../../domain/delivery/lane-memory.ts'

/** The state that the last sender of a lane persisted, when it did so, and how many times people had closed the breaker by then. */
export type LaneStandRow = {
  readonly memory: LaneMemory | null
  readonly remembered_at: string | null
  readonly breaker_resets: number
  readonly probes_asked: number
}

export type ShownBreaker = {
  readonly state: BreakerState
  readonly opened_at: string | null
  readonly next_probe_at: string | null
  readonly failures_in_row: number
  readonly failing_since: string | null
  readonly last_error: LastFailure['error_code'] | null
  readonly last_status: number | null
}

const CLOSED: ShownBreaker = {
  state: 'closed',
  opened_at: null,
  next_probe_at: null,
  failures_in_row: 0,
  failing_since: null,
  last_error: null,
  last_status: null,
}

/** The breaker as last stored: a change of its state is stored immediately, a change of its counts within seconds. */
export function presentBreaker(lane: LaneStandRow | null): ShownBreaker {
  const breaker = storedBreaker(lane)
  if (lane?.remembered_at === undefined || lane.remembered_at === null || breaker === null) return CLOSED
  const recordedAt = Date.parse(lane.remembered_at)
  const at = (ms: number | null): string | null => (ms === null ? null : new Date(recordedAt + ms).toISOString())
  const before = (ms: number | null): string | null => at(ms === null ? null : -ms)
  const { state, opened_ms, probe_in_ms, failures_in_row, failing_ms } = breaker
  const isAsked = lane.memory !== null && isProbeAsked(lane.memory, lane.probes_asked)
  return {
    state,
    opened_at: before(opened_ms),
    next_probe_at: isAsked ? null : at(probe_in_ms),
    failures_in_row,
    failing_since: before(failing_ms),
    ...lastOf(breaker),
  }
}

/** A state that was stored before a person closed the breaker no longer counts. */
function storedBreaker(lane: LaneStandRow | null): BreakerMemory | null {
  return lane?.memory?.breaker_resets === lane?.breaker_resets ? (lane?.memory?.breaker ?? null) : null
}

function lastOf({ last_failure }: BreakerMemory): Pick<ShownBreaker, 'last_error' | 'last_status'> {
  return { last_error: last_failure?.error_code ?? null, last_status: last_failure?.status ?? null }
}
