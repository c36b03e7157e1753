import type { StoreCall } from './ports.ts'

/** The call that this process has not completed, and since when, in ms of the machine's clock. */
export interface Stalled {
  readonly call: StoreCall['type']
  readonly since: number
}

/** Tracks whether the store does its work for this machine. A call that fails is repeated within seconds while it is needed. */
export class StoreHealth {
  readonly #stalledMs: number
  readonly #open = new Map<number, { readonly call: StoreCall['type']; readonly at: number }>()
  readonly #failing = new Map<StoreCall['type'], { since: number; lastAt: number }>()

  constructor(stalledMs: number) {
    this.#stalledMs = stalledMs
  }

  asked({ op, type }: StoreCall, now: number): void {
    this.#open.set(op, { call: type, at: now })
  }

  answered(op: number, { done, now }: { readonly done: boolean; readonly now: number }): void {
    const asked = this.#open.get(op)
    if (asked === undefined) return
    this.#open.delete(op)
    const { call, at } = asked
    const failing = this.#failing.get(call)
    if (done) this.#failing.delete(call)
    else if (failing !== undefined && this.#isRecent(failing.lastAt, now)) failing.lastAt = now
    else this.#failing.set(call, { since: at, lastAt: now })
  }

  /**
   * Returns the call that has waited longest, if that is too long. A call that failed and was not needed again does not count.
   */
  stalled(now: number): Stalled | undefined {
    const waiting: Stalled[] = []
    for (const { call, at } of this.#open.values()) waiting.push({ call, since: at })
    for (const [call, { since, lastAt }] of this.#failing)
      if (this.#isRecent(lastAt, now)) waiting.push({ call, since })
    const [longest] = waiting.toSorted((a, b) => a.since - b.since)
    return longest !== undefined && !this.#isRecent(longest.since, now) ? longest : undefined
  }

  #isRecent(at: number, now: number): boolean {
    return now - at < this.#stalledMs
  }
}
