/** The rules for the concurrent requests of a lane, across all its senders. */
import { orphanOf } from './rows.ts'
import { Violation } from './violation.ts'
import type { Attempt, LaneRow } from './rows.ts'

/** Nobody asks about earlier times. */
const FORGOTTEN_MS = 60_000

/**
 * The requests of a lane that are under way, and the doubted requests, which may be under way as far as their sender
 * knows, each with the latest time of its end.
 */
interface UnderWay {
  readonly flying: Set<string>
  readonly doubted: Map<string, number>
  lastFullAt: number
}

export class CapRules {
  readonly #lanes = new Map<string, UnderWay>()

  /** A request leaves. Returns how many are under way with it. */
  left(lane: LaneRow, attemptId: string, now: number): number {
    // oxlint-disable-line max-params -- the lane, the attempt, and the time
    const at = this.#of(lane)
    at.flying.add(attemptId)
    const { max_in_flight } = lane.settings
    if (at.flying.size > max_in_flight)
      throw new Violation(`${attemptId} exceeds the cap of ${lane.lane}: ${at.flying.size} of ${max_in_flight}`)
    this.#note(lane, now)
    return at.flying.size
  }

  /** The request has ended for its worker: it was answered, it failed, it was cut off, or the worker died. */
  ended(lane: LaneRow, attemptId: string, now: number): void {
    // oxlint-disable-line max-params -- as above
    this.#note(lane, now)
    this.#of(lane).flying.delete(attemptId)
  }

  /** Someone other than the sender of the request closed its attempt. */
  doubted(lane: LaneRow, attempt: Attempt, now: number): void {
    // oxlint-disable-line max-params -- as above
    const { doubted } = this.#of(lane)
    for (const [attemptId, endsBy] of doubted) if (endsBy < now - FORGOTTEN_MS) doubted.delete(attemptId)
    doubted.set(attempt.attempt_id, orphanOf(lane, attempt).ends_by)
    this.#note(lane, now)
  }

  /** True when all slots may have been taken at some time since `since`. */
  wasFull(lane: LaneRow, { since, now }: { since: number; now: number }): boolean {
    const at = this.#of(lane)
    return (
      at.lastFullAt > since ||
      busyAt(at, since) >= lane.settings.max_in_flight ||
      busyAt(at, now) >= lane.settings.max_in_flight
    )
  }

  #note(lane: LaneRow, now: number): void {
    const at = this.#of(lane)
    if (busyAt(at, now) >= lane.settings.max_in_flight) at.lastFullAt = now
  }

  #of({ lane }: LaneRow): UnderWay {
    const known = this.#lanes.get(lane)
    if (known !== undefined) return known
    const at = { flying: new Set<string>(), doubted: new Map<string, number>(), lastFullAt: -Infinity }
    this.#lanes.set(lane, at)
    return at
  }
}

function busyAt({ flying, doubted }: UnderWay, at: number): number {
  let busy = flying.size
  for (const [attemptId, endsBy] of doubted) if (endsBy > at && !flying.has(attemptId)) busy += 1
  return busy
}
