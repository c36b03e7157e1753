/** The rules for the sends of a lane, across all its senders: its rate, and the limits of its breaker. */
import { isProbeAsked } from '../src/domain/delivery/lane-memory.ts'
import { Violation } from './violation.ts'
import type { LaneRow } from './rows.ts'

/** A note counts from its write, and the slowest store writes it this long after it was made. */
const NOTED_LATE_MS = 17_000

export class LaneRules {
  readonly #sentAt = new Map<string, number[]>()
  readonly #grantedAt = new Map<string, number>()
  readonly #answeredAt = new Map<string, number>()
  /** The requests that left while the rows of their lane had an open breaker. */
  readonly #probes = new Set<string>()
  readonly #probeAnsweredAt = new Map<string, number>()
  readonly #succeededAt = new Map<string, number>()
  readonly #trippedUntil = new Map<string, number>()

  granted({ lane }: LaneRow, now: number): void {
    this.#grantedAt.set(lane, now)
  }

  /** True when the lane has a new owner since `since`. */
  wasGranted({ lane }: LaneRow, since: number): boolean {
    return (this.#grantedAt.get(lane) ?? -Infinity) > since
  }

  /** The lane's memory is about to be replaced. */
  noting(lane: LaneRow, now: number): void {
    if (breakerOf(lane).state !== 'closed') this.#trippedUntil.set(lane.lane, now)
  }

  /** A request is about to be sent. */
  sent(lane: LaneRow, attemptId: string, now: number): void {
    this.#checkRate(lane, now)
    const { state, probeAt } = breakerOf(lane)
    if (state !== 'open' && state !== 'half_open') return
    if (now < probeAt - NOTED_LATE_MS)
      throw new Violation(`a request to ${lane.lane} left ${probeAt - now} ms before its probe was due`)
    if (state === 'open') this.#probes.add(attemptId)
  }

  /** A request has ended for its sender. */
  answered(lane: string, attemptId: string, { now, succeeded }: { now: number; succeeded: boolean }): void {
    // oxlint-disable-line max-params -- the lane, the attempt, and its end
    this.#answeredAt.set(lane, now)
    if (succeeded) this.#succeededAt.set(lane, now)
    if (this.#probes.delete(attemptId)) this.#probeAnsweredAt.set(lane, now)
  }

  /** The request is on the wire; `flying` counts it. */
  left(lane: LaneRow, flying: number): void {
    const { state } = breakerOf(lane)
    if (state !== 'open' && state !== 'half_open') return
    if (this.#isOvertaken(lane, state)) return
    if (flying > 1) throw new Violation(`${lane.lane} has ${flying} requests in flight while its breaker is ${state}`)
  }

  /** True when the breaker has moved on since its state was persisted. */
  #isOvertaken({ lane, remembered_at }: LaneRow, state: 'open' | 'half_open'): boolean {
    const after = (at: ReadonlyMap<string, number>, time: number): boolean => (at.get(lane) ?? -Infinity) > time
    // The probe has succeeded, and the turn that persists this is under way.
    if (state === 'half_open') return after(this.#answeredAt, remembered_at)
    // The whole probe was quicker than the note from before it, and the next note waits for that note.
    if (after(this.#probeAnsweredAt, remembered_at)) return true
    // The note was so slow that the probe, which started after it was made, had succeeded when it was written.
    return after(this.#succeededAt, remembered_at - NOTED_LATE_MS)
  }

  /** True when the rate or the breaker of the lane may have held it back at some time since `at.since`. */
  hindered(lane: LaneRow, at: { since: number; now: number }): boolean {
    return this.#wasTripped(lane, at.since) || this.#wasSpent(lane, at)
  }

  #wasTripped(lane: LaneRow, since: number): boolean {
    const { state, probeAt } = breakerOf(lane)
    // The lane was held back until a person requested a probe.
    if (state === 'open' && probeAt === -Infinity) return true
    const lastSentAt = this.#sentAt.get(lane.lane)?.at(-1) ?? -Infinity
    if ((state === 'open' || state === 'half_open') && probeAt > since) return true
    if (state !== 'closed' && lastSentAt > since - lane.settings.timeout_ms) return true
    // The breaker is closed by now, but was not until that was persisted.
    return (this.#trippedUntil.get(lane.lane) ?? -Infinity) > since
  }

  #wasSpent(lane: LaneRow, { since, now }: { since: number; now: number }): boolean {
    const { rate_limit } = lane.settings
    if (rate_limit === null) return false
    const from = since - rate_limit.per_ms
    if ((this.#grantedAt.get(lane.lane) ?? -Infinity) > from) return true
    return this.#sendsAfter(lane.lane, from, now) >= rate_limit.count
  }

  #checkRate(lane: LaneRow, now: number): void {
    const sentAt = this.#sentAt.get(lane.lane) ?? []
    this.#sentAt.set(lane.lane, sentAt)
    sentAt.push(now)
    const { rate_limit } = lane.settings
    if (rate_limit === null) return
    const sends = this.#sendsAfter(lane.lane, now - rate_limit.per_ms, now)
    if (sends > rate_limit.count)
      throw new Violation(
        `${lane.lane} got ${sends} requests in ${rate_limit.per_ms} ms; its rate is ${rate_limit.count}`,
      )
  }

  #sendsAfter(key: string, from: number, now: number): number {
    const sentAt = this.#sentAt.get(key) ?? []
    let sends = 0
    for (let index = sentAt.length - 1; index >= 0; index -= 1) {
      const at = sentAt[index] ?? -Infinity
      if (at <= from) break
      if (at <= now) sends += 1
    }
    return sends
  }
}

/** The breaker according to the rows. Memory from before someone closed it manually is ignored. */
function breakerOf({ memory, remembered_at, settings }: LaneRow): { readonly state: string; readonly probeAt: number } {
  const breaker = memory?.breaker_resets === settings.breaker_resets ? memory.breaker : null
  if (memory === null || breaker === null) return { state: 'closed', probeAt: -Infinity }
  if (isProbeAsked(memory, settings.probes_asked)) return { state: breaker.state, probeAt: -Infinity }
  return { state: breaker.state, probeAt: remembered_at + (breaker.probe_in_ms ?? -Infinity) }
}
