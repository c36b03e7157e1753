interface Entry {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

/**
 * Simulated time in whole ms: the pending events, in order. Only waiting takes time. The agenda has a separate binary
 * heap with the comparison compiled in, because this is the innermost loop.
 */
export class Agenda {
  readonly #entries: Entry[] = []
  #order = 0
  now = 0

  after(delayMs: number, run: () => void): void {
    this.at(this.now + delayMs, run)
  }

  at(at: number, run: () => void): void {
    this.#order += 1
    this.#push({ at: Math.max(Math.ceil(at), this.now), order: this.#order, run })
  }

  /** Runs the next entry that is due before `until`. Returns false when there is none. */
  step(until: number): boolean {
    const next = this.#entries[0]
    if (next === undefined || next.at > until) return false
    const last = this.#entries.pop()
    if (last !== undefined && last !== next) this.#sink(last)
    this.now = next.at
    next.run()
    return true
  }

  #push(entry: Entry): void {
    const entries = this.#entries
    let at = entries.length
    entries.push(entry)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = entries[above]
      if (parent === undefined || !isBefore(entry, parent)) break
      entries[at] = parent
      at = above
    }
    entries[at] = entry
  }

  /** Moves the last entry to the first place. */
  #sink(entry: Entry): void {
    const entries = this.#entries
    let at = 0
    for (;;) {
      const left = entries[2 * at + 1]
      if (left === undefined) break
      const right = entries[2 * at + 2]
      const rightFirst = right !== undefined && isBefore(right, left)
      const child = rightFirst ? right : left
      if (!isBefore(child, entry)) break
      entries[at] = child
      at = 2 * at + (rightFirst ? 2 : 1)
    }
    entries[at] = entry
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
