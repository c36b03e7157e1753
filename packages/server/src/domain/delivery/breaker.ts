/** The breaker of one destination, without a clock. docs/states/breaker.md has the diagram and the rules. */
import { LIMITS, type ERROR_CODES } from '@postroad/contract'

export const BREAKER_STATES = ['closed', 'open', 'half_open', 'recovering'] as const
export type BreakerState = (typeof BREAKER_STATES)[number]

/**
 * One step of the breaker; a test compares this with the page's table. Turning a destination on closes its breaker from any
 * state.
 */
export const BREAKER_NEXT: Readonly<Record<BreakerState, readonly BreakerState[]>> = {
  closed: ['open'],
  open: ['half_open'],
  half_open: ['open', 'recovering'],
  recovering: ['open', 'closed'],
}

/** The reason for the failure of the last attempt. */
export type LastFailure = { readonly error_code: (typeof ERROR_CODES)[number]; readonly status: number | null }

/** The persisted state of a breaker. Durations are relative to the time of writing, so no two clocks are ever compared. */
export type BreakerMemory = {
  readonly state: BreakerState
  readonly failures_in_row: number
  /** Since the first failure after the last success. */
  readonly failing_ms: number | null
  readonly opened_ms: number | null
  /** Negative: the probe is overdue. */
  readonly probe_in_ms: number | null
  readonly probe_wait_ms: number
  readonly cap: number
  /** Absent in the data of an earlier version; null: the last attempt succeeded, or the reason is unknown. */
  readonly last_failure?: LastFailure | null
  readonly counts: readonly { readonly age_ms: number; readonly succeeded: number; readonly failed: number }[]
}

type Count = { readonly at: number; succeeded: number; failed: number }

/** The result of one request. `probe`: it was the one that an open breaker let through. */
export type Ended = {
  readonly succeeded: boolean
  readonly probe: boolean
  /** The reason for the failure, if there was one and it is known. */
  readonly failure?: LastFailure | null
  readonly maxInFlight: number
  readonly now: number
}

const COUNTED_MS = LIMITS.breakerWindowMs / 10

/** Times are in ms on any clock that does not go back. */
export class Breaker {
  #state: BreakerState = 'closed'
  #failuresInRow = 0
  #failingSince: number | null = null
  #openedAt: number | null = null
  #probeAt: number | null = null
  #probeWaitMs = 0
  /** During recovery: how many requests may be in flight. */
  #cap = 0
  #lastFailure: LastFailure | null = null
  #counts: Count[] = []

  get state(): BreakerState {
    return this.#state
  }

  /** True while the last request that ended was a failure. */
  get failing(): boolean {
    return this.#failingSince !== null
  }

  /** True while only a probe may be sent. */
  get holds(): boolean {
    return this.#state === 'open' || this.#state === 'half_open'
  }

  /** The time before which nothing may be sent; null when something may. */
  waitsUntil(now: number): number | null {
    return this.#state === 'open' && this.#probeAt !== null && this.#probeAt > now ? this.#probeAt : null
  }

  /** How many requests may be in flight now, regardless of the destination's own limit. */
  room(now: number): number {
    switch (this.#state) {
      case 'closed':
        return Infinity
      case 'open':
        return this.waitsUntil(now) === null ? 1 : 0
      case 'half_open':
        return 1
      case 'recovering':
        return this.#cap
    }
  }

  /** Lets one request through. */
  probe(): void {
    this.#state = 'half_open'
  }

  /** A person requests the next probe immediately. If it fails, the wait until the following one does not grow. */
  probeNow(now: number): void {
    if (this.waitsUntil(now) === null) return
    this.#probeAt = now
    this.#probeWaitMs = Math.max(LIMITS.breakerProbeMsMin, this.#probeWaitMs) / 2
  }

  /** The probe was never sent, so the next one may go immediately. */
  probeLost(): void {
    if (this.#state === 'half_open') this.#state = 'open'
  }

  /** Records how a request ended. Returns true when the breaker has changed its state. */
  ended(end: Ended): boolean {
    const before = this.#state
    this.#note(end)
    if (end.probe) this.#probed(end)
    else if (before === 'closed' || before === 'recovering') this.#counted(end)
    return this.#state !== before
  }

  /** True when nothing has succeeded for so long that the destination must be turned off. */
  hopeless(now: number): boolean {
    return this.#failingSince !== null && now - this.#failingSince >= LIMITS.breakerDisableMs
  }

  /** null: a new sender needs no information. */
  memory(now: number): BreakerMemory | null {
    const counts = this.#counts.filter(({ at }) => now - at < LIMITS.breakerWindowMs)
    const healthy =
      this.#state === 'closed' && this.#failingSince === null && counts.every(({ failed }) => failed === 0)
    if (healthy) return null
    return {
      state: this.#state,
      failures_in_row: this.#failuresInRow,
      failing_ms: this.#failingSince === null ? null : now - this.#failingSince,
      opened_ms: this.#openedAt === null ? null : now - this.#openedAt,
      probe_in_ms: this.#probeAt === null ? null : this.#probeAt - now,
      probe_wait_ms: this.#probeWaitMs,
      cap: this.#cap,
      last_failure: this.#lastFailure,
      counts: counts.map(({ at, succeeded, failed }) => ({ age_ms: now - at, succeeded, failed })),
    }
  }

  /** The breaker as it was persisted. A probe that was under way then is lost, so another one may go when its time has come. */
  static recall(memory: BreakerMemory | null, now: number): Breaker {
    const breaker = new Breaker()
    if (memory === null) return breaker
    breaker.#state = memory.state === 'half_open' ? 'open' : memory.state
    breaker.#failuresInRow = memory.failures_in_row
    breaker.#failingSince = memory.failing_ms === null ? null : now - memory.failing_ms
    breaker.#openedAt = memory.opened_ms === null ? null : now - memory.opened_ms
    breaker.#probeAt = memory.probe_in_ms === null ? null : now + memory.probe_in_ms
    breaker.#probeWaitMs = memory.probe_wait_ms
    breaker.#cap = memory.cap
    breaker.#lastFailure = memory.last_failure ?? null
    breaker.#counts = memory.counts.map(({ age_ms, succeeded, failed }) => ({ at: now - age_ms, succeeded, failed }))
    return breaker
  }

  #note({ succeeded, failure = null, now }: Ended): void {
    this.#lastFailure = succeeded ? null : failure
    if (succeeded) {
      this.#failuresInRow = 0
      this.#failingSince = null
    } else {
      this.#failuresInRow += 1
      this.#failingSince ??= now
    }
  }

  #probed({ succeeded, maxInFlight, now }: Ended): void {
    if (this.#state !== 'half_open') return
    if (!succeeded) return this.#open(now)
    this.#state = 'recovering'
    this.#probeAt = null
    this.#counts = []
    this.#cap = Math.min(LIMITS.breakerRecoveringMin, maxInFlight)
  }

  #counted({ succeeded, maxInFlight, now }: Ended): void {
    this.#count(succeeded, now)
    if (!succeeded && this.#isBad(now)) return this.#open(now)
    if (this.#state !== 'recovering') return
    // The cap doubles with each round trip, and halves with each failure.
    this.#cap = succeeded ? this.#cap + 1 : Math.max(1, Math.floor(this.#cap / 2))
    if (this.#cap >= maxInFlight) this.#close()
  }

  #count(succeeded: boolean, now: number): void {
    let count = this.#counts.at(-1)
    if (count === undefined || now - count.at >= COUNTED_MS) {
      count = { at: now, succeeded: 0, failed: 0 }
      this.#counts.push(count)
      if (this.#counts.length > 10) this.#counts.shift()
    }
    if (succeeded) count.succeeded += 1
    else count.failed += 1
  }

  #isBad(now: number): boolean {
    if (this.#failuresInRow >= LIMITS.breakerFailuresInRow) return true
    let [all, failed] = [0, 0]
    for (const count of this.#counts) {
      if (now - count.at >= LIMITS.breakerWindowMs) continue
      all += count.succeeded + count.failed
      failed += count.failed
    }
    return all >= LIMITS.breakerSampleMin && failed >= all * LIMITS.breakerFailedShare
  }

  /** From closed, the first wait is the shortest. Each time the breaker opens again before it has closed, the wait doubles. */
  #open(now: number): void {
    // A recovering breaker lets deliveries through, so this is a new outage. A failed probe continues the old one.
    if (this.#state !== 'half_open') this.#openedAt = now
    this.#probeWaitMs =
      this.#state === 'closed' ? LIMITS.breakerProbeMsMin : Math.min(LIMITS.breakerProbeMsMax, 2 * this.#probeWaitMs)
    this.#probeAt = now + this.#probeWaitMs
    this.#state = 'open'
    this.#counts = []
  }

  #close(): void {
    this.#state = 'closed'
    this.#openedAt = null
    this.#probeAt = null
    this.#probeWaitMs = 0
  }
}
