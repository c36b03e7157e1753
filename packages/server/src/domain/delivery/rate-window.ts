export const RATE_PERIODS_MS = { second: 1_000, minute: 60_000, hour: 3_600_000 } as const
export type RatePer = keyof typeof RATE_PERIODS_MS

/** A limit on attempts: at most `count` in any period of `per_ms`, wherever it starts. */
export type RateLimit = { readonly count: number; readonly per_ms: number }

/**
 * The persisted state of a window. `pending`: attempts that were started but may not have been sent. They count from the time
 * of the recall.
 */
export type RateMemory = {
  readonly sends: readonly { readonly age_ms: number; readonly count: number }[]
  readonly pending: number
}

/**
 * The sends under a large limit are in this many groups, each with the age of its last send. So sends never exceed the
 * limit, and nearly always use all of it.
 */
const GROUPS = 64

/** The sends of the last `per_ms`. Times are in ms on any clock that does not go back. */
export class RateWindow {
  #sends: { at: number; count: number }[] = []
  #sent = 0

  /** When one more attempt may start while others are pending; `Infinity`: not before one of those is settled. */
  freeAt({ count, per_ms }: RateLimit, { pending, now }: { pending: number; now: number }): number {
    this.#expire(now - per_ms)
    let over = this.#sent + pending + 1 - count
    if (over <= 0) return now
    for (const sends of this.#sends) {
      over -= sends.count
      if (over <= 0) return sends.at + per_ms
    }
    return Infinity
  }

  sent({ count }: RateLimit, now: number): void {
    const last = this.#sends.at(-1)
    this.#sent += 1
    if (last !== undefined && last.count < Math.ceil(count / GROUPS)) {
      last.at = now
      last.count += 1
    } else this.#sends.push({ at: now, count: 1 })
  }

  memory(pending: number, now: number): RateMemory {
    return { sends: this.#sends.map(({ at, count }) => ({ age_ms: now - at, count })), pending }
  }

  static recall(memory: RateMemory | null, now: number): RateWindow {
    const window = new RateWindow()
    if (memory === null) return window
    const sends = memory.sends.map(({ age_ms, count }) => ({ at: now - age_ms, count }))
    window.#sends = memory.pending === 0 ? sends : [...sends, { at: now, count: memory.pending }]
    window.#sent = window.#sends.reduce((sum, { count }) => sum + count, 0)
    return window
  }

  /** Sends at this time or earlier no longer count. */
  #expire(until: number): void {
    let past = 0
    for (const sends of this.#sends) {
      if (sends.at > until) break
      past += 1
      this.#sent -= sends.count
    }
    if (past > 0) this.#sends.splice(0, past)
  }
}
