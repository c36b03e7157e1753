/**
 * Waiting items of many owners. Each owner gets its turn whatever the others have waiting, and has at most `eachMax` items
 * under way.
 */
export class FairQueue<Item> {
  readonly #eachMax: number
  /** Owners with waiting items; the first one is next. */
  readonly #waiting = new Map<string, Item[]>()
  readonly #underWay = new Map<string, number>()

  constructor(eachMax: number) {
    this.#eachMax = eachMax
  }

  get size(): number {
    return [...this.#waiting.values()].reduce((sum, items) => sum + items.length, 0)
  }

  waitingOf(owner: string): readonly Item[] {
    return this.#waiting.get(owner) ?? []
  }

  add(owner: string, item: Item): void {
    const items = this.#waiting.get(owner)
    if (items === undefined) this.#waiting.set(owner, [item])
    else items.push(item)
  }

  /** The next item, which is then under way; undefined: no owner may start one. */
  take(): Item | undefined {
    for (const [owner, items] of this.#waiting) {
      const underWay = this.#underWay.get(owner) ?? 0
      if (underWay >= this.#eachMax) continue
      const item = items.shift()
      this.#waiting.delete(owner)
      if (items.length > 0) this.#waiting.set(owner, items)
      this.#underWay.set(owner, underWay + 1)
      return item
    }
    return undefined
  }

  /** An item of this owner that was under way has ended. */
  ended(owner: string): void {
    const left = (this.#underWay.get(owner) ?? 0) - 1
    if (left > 0) this.#underWay.set(owner, left)
    else this.#underWay.delete(owner)
  }

  /** Removes and returns all waiting items. */
  drain(): readonly Item[] {
    const all = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    return all
  }
}
