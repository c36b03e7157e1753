/** For how long what was read of a destination is used: a change that nobody tells of is seen within this time. */
export const TARGET_KEPT_MS = 1_000

/** One reading of a destination, under way or done. `Waiting` is whatever waits for it. */
export interface Reading<Target, Waiting> {
  readonly id: string
  readonly begunAt: number
  readonly waiting: Waiting
  done: { readonly target: Target } | undefined
  /** The destination changed after it was begun. */
  forgotten: boolean
}

/**
 * What a sender knows of destinations, without I/O and without a clock: one reading at a time each. What it hands out was
 * read no earlier than `TARGET_KEPT_MS` before it was asked for, and no earlier than the last change it was told of. Times are in ms.
 */
export class TargetCache<Target, Waiting> {
  readonly #readings = new Map<string, Reading<Target, Waiting>>()

  /** The reading to use or to wait for; undefined: a new one is to be begun. */
  find(id: string, now: number): Reading<Target, Waiting> | undefined {
    const reading = this.#readings.get(id)
    if (reading === undefined || reading.done === undefined) return reading
    // A clock that was set back makes nothing live longer.
    const ageMs = now - reading.begunAt
    return ageMs >= 0 && ageMs < TARGET_KEPT_MS ? reading : undefined
  }

  /** To be called before anything is asked of the store: what changes from then on may not be in the answer. */
  begin(id: string, { now, waiting }: { readonly now: number; readonly waiting: Waiting }): Reading<Target, Waiting> {
    const reading = { id, begunAt: now, waiting, done: undefined, forgotten: false }
    this.#readings.set(id, reading)
    return reading
  }

  ended(reading: Reading<Target, Waiting>, target: Target): void {
    reading.done = { target }
  }

  /** It came to nothing, or what it gave is of no use: the next request asks anew. */
  drop(reading: Reading<Target, Waiting>): void {
    if (this.#readings.get(reading.id) === reading) this.#readings.delete(reading.id)
  }

  /** True when who asked at `askedAt` may use what was read; otherwise it has to ask again. */
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
