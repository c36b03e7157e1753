/** A queue whose `shift` is O(1), unlike that of a long array. */
export class Fifo<Item> {
  #items: Item[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Takes up to `count` items from the front. */
  take(count: number): Item[] {
    const taken = this.#items.slice(this.#head, this.#head + count)
    this.#advance(taken.length)
    return taken
  }

  shift(): Item | undefined {
    const item = this.#items[this.#head]
    if (this.size > 0) this.#advance(1)
    return item
  }

  /** Returns items to the front, in their order. For the rare store error. */
  putBack(items: readonly Item[]): void {
    this.#items = [...items, ...this.#items.slice(this.#head)]
    this.#head = 0
  }

  /** Frees the space of the taken items once they are most of the array. */
  #advance(count: number): void {
    this.#head += count
    if (this.#head <= 64 || this.#head * 2 <= this.#items.length) return
    this.#items = this.#items.slice(this.#head)
    this.#head = 0
  }
}
