/** How long a cached destination is used. A change without a notification takes effect within this time. */
export const TARGET_KEPT_MS = 1_000

/** One reading of a destination, under way or done. `Waiting` is whatever waits for it. */
export interface Reading<Target, Waiting> {
  readonly id: string
  readonly begunAt: number
  readonly waiting: Waiting
  done: { readonly target: Target } | undefined
  /** The destination changed after the reading started. */
  forgotten: boolean
}

/**
 * A sender's cache of destinations, without I/O and without a clock: one reading at a time for each. An entry that it returns
 * was read no earlier than `TARGET_KEPT_MS` before the request for it, and no earlier than the last change that was reported.
 * Times are in ms.
 */
export class TargetCache<Target, Waiting> {
  readonly #readings = new Map<string, Reading<Target, Waiting>>()

  /** Returns the reading to use or to wait for; undefined means that the caller must start a new one. */
  find(id: string, now: number): Reading<Target, Waiting> | undefined {
    const reading = this.#readings.get(id)
    if (reading === undefined || reading.done === undefined) return reading
    // A clock that was set back does not extend the life of an entry.
    const ageMs = now - reading.begunAt
    return ageMs >= 0 && ageMs < TARGET_KEPT_MS ? reading : undefined
  }

  /** Must be called before the store is read, because the answer may not contain later changes. */
  begin(id: string, { now, waiting }: { readonly now: number; readonly waiting: Waiting }): Reading<Target, Waiting> {
    const reading = { id, begunAt: now, waiting, done: undefined, forgotten: false }
    this.#readings.set(id, reading)
    return reading
  }

  ended(reading: Reading<Target, Waiting>, target: Target): void {
    reading.done = { target }
  }

  /** The reading failed, or its result is of no use: the next request reads again. */
  drop(reading: Reading<Target, Waiting>): void {
    if (this.#readings.get(reading.id) === reading) this.#readings.delete(reading.id)
  }

  /** True when a caller that asked at `askedAt` may use the result; otherwise it has to ask again. */
  serves(reading: Reading<Target, Waiting>, askedAt: number): boolean {
    return !reading.forgotten && askedAt - reading.begunAt < TARGET_KEPT_MS
  }

  /** The destination has changed. */
  forget(id: string): void {
    const reading = this.#readings.get(id)
    if (reading === undefined) return
    reading.forgotten = true
    this.#readings.delete(id)
  }
}
