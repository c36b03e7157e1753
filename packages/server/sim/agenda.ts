import { MinHeap } from '../src/pipeline/deliver/min-heap.ts'

interface Entry {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

/** Simulated time in whole ms: what is to happen, in order. Nothing takes time except waiting. */
export class Agenda {
  readonly #heap = new MinHeap<Entry>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order))
  #order = 0
  now = 0

  after(delayMs: number, run: () => void): void {
    this.at(this.now + delayMs, run)
  }

  at(at: number, run: () => void): void {
    this.#order += 1
    this.#heap.push({ at: Math.max(Math.ceil(at), this.now), order: this.#order, run })
  }

  /** Runs the next entry that is due before `until`; false when there is none. */
  step(until: number): boolean {
    const next = this.#heap.peek()
    if (next === undefined || next.at > until) return false
    this.#heap.pop()
    this.now = next.at
    next.run()
    return true
  }
}
