/** A binary heap: the least item first, O(log n) in and out. The order of equal items depends only on the order of the pushes. */
export class MinHeap<Item> {
  readonly #items: Item[] = []
  readonly #before: (a: Item, b: Item) => boolean

  constructor(before: (a: Item, b: Item) => boolean) {
    this.#before = before
  }

  get size(): number {
    return this.#items.length
  }

  peek(): Item | undefined {
    return this.#items[0]
  }

  push(item: Item): void {
    const items = this.#items
    let at = items.length
    items.push(item)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = items[above]
      if (parent === undefined || !this.#before(item, parent)) break
      items[at] = parent
      at = above
    }
    items[at] = item
  }

  pop(): Item | undefined {
    const least = this.#items[0]
    const last = this.#items.pop()
    if (last !== undefined && this.#items.length > 0) this.#sink(last)
    return least
  }

  #sink(item: Item): void {
    const items = this.#items
    let at = 0
    for (;;) {
      const left = items[2 * at + 1]
      const right = items[2 * at + 2]
      if (left === undefined) break
      const rightFirst = right !== undefined && this.#before(right, left)
      const child = rightFirst ? right : left
      if (!this.#before(child, item)) break
      items[at] = child
      at = 2 * at + (rightFirst ? 2 : 1)
    }
    items[at] = item
  }
}
