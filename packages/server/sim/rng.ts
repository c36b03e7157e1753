/** Random numbers from a seed (sfc32): the same seed gives the same world, on every machine. */
export class Rng {
  #a: number
  #b: number
  #c: number
  #count = 1

  constructor(seed: number) {
    this.#a = seed | 0
    this.#b = Math.imul(seed, 0x9e3779b1) | 0
    this.#c = 0x2545f491
    for (let round = 0; round < 12; round += 1) this.next()
  }

  /** A number in [0, 1). */
  readonly next = (): number => {
    const sum = (((this.#a + this.#b) | 0) + this.#count) | 0
    this.#count = (this.#count + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return (sum >>> 0) / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  /** A whole number from low to high, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new Error('There is nothing to pick from.')
    return item
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, at: this.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ item }) => item)
  }
}
