const WORD_BITS = 32

/** A set of positions in a text: 0 is before its first character, `length` is after its last. One bit each. */
export class Positions {
  length = 0
  /** The number of words that an operation on the whole set reads. */
  wordCount = 1
  readonly #words: Int32Array

  constructor(lengthMax: number) {
    this.#words = new Int32Array(Math.floor(lengthMax / WORD_BITS) + 1)
  }

  /** Makes it a set for texts of another length. Its content is undefined from then on. */
  resize(length: number): this {
    this.length = length
    this.wordCount = (length >>> 5) + 1
    return this
  }

  isEmpty(): boolean {
    for (let index = 0; index < this.wordCount; index += 1) if (this.#words[index] !== 0) return false
    return true
  }

  has(position: number): boolean {
    return ((this.#word(position >>> 5) >>> (position & 31)) & 1) === 1
  }

  add(position: number): void {
    const index = position >>> 5
    this.#words[index] = this.#word(index) | (1 << (position & 31))
  }

  remove(position: number): void {
    const index = position >>> 5
    this.#words[index] = this.#word(index) & ~(1 << (position & 31))
  }

  clear(): this {
    for (let index = 0; index < this.wordCount; index += 1) this.#words[index] = 0
    return this
  }

  fill(): this {
    for (let index = 0; index < this.wordCount; index += 1) this.#words[index] = -1
    return this.#trim()
  }

  keepOnly(position: number): void {
    const had = this.has(position)
    this.clear()
    if (had) this.add(position)
  }

  copy(other: Positions): this {
    for (let index = 0; index < this.wordCount; index += 1) this.#words[index] = other.#word(index)
    return this
  }

  equals(other: Positions): boolean {
    for (let index = 0; index < this.wordCount; index += 1) if (this.#words[index] !== other.#words[index]) return false
    return true
  }

  unite(other: Positions): void {
    for (let index = 0; index < this.wordCount; index += 1) this.#words[index] = this.#word(index) | other.#word(index)
  }

  intersect(other: Positions): void {
    for (let index = 0; index < this.wordCount; index += 1) this.#words[index] = this.#word(index) & other.#word(index)
  }

  subtract(other: Positions): void {
    for (let index = 0; index < this.wordCount; index += 1) this.#words[index] = this.#word(index) & ~other.#word(index)
  }

  invert(): void {
    for (let index = 0; index < this.wordCount; index += 1) this.#words[index] = ~this.#word(index)
    this.#trim()
  }

  /** Moves every position by this many characters. Positions that would leave the text are dropped. */
  shift(by: number): void {
    if (by > 0) this.#shiftUp(by >>> 5, by & 31)
    else if (by < 0) this.#shiftDown(-by >>> 5, -by & 31)
  }

  /** The first position at or above `from`; -1 when there is none. */
  next(from: number): number {
    if (from > this.length) return -1
    let index = from >>> 5
    let bits = this.#word(index) & (-1 << (from & 31))
    while (bits === 0) {
      index += 1
      if (index === this.wordCount) return -1
      bits = this.#word(index)
    }
    return index * WORD_BITS + 31 - Math.clz32(bits & -bits)
  }

  /** The last position at or below `from`; -1 when there is none. */
  previous(from: number): number {
    if (from < 0) return -1
    let index = from >>> 5
    let bits = this.#word(index) & (-1 >>> (31 - (from & 31)))
    while (bits === 0) {
      index -= 1
      if (index < 0) return -1
      bits = this.#word(index)
    }
    return index * WORD_BITS + 31 - Math.clz32(bits)
  }

  #shiftUp(words: number, bits: number): void {
    for (let index = this.wordCount - 1; index >= 0; index -= 1) {
      const low = bits === 0 ? 0 : this.#word(index - words - 1) >>> (32 - bits)
      this.#words[index] = (this.#word(index - words) << bits) | low
    }
    this.#trim()
  }

  #shiftDown(words: number, bits: number): void {
    const count = this.wordCount
    const wordAt = (index: number): number => (index < count ? this.#word(index) : 0)
    for (let index = 0; index < this.wordCount; index += 1) {
      const high = bits === 0 ? 0 : wordAt(index + words + 1) << (32 - bits)
      this.#words[index] = (wordAt(index + words) >>> bits) | high
    }
  }

  #word(index: number): number {
    return this.#words[index] ?? 0
  }

  /** Clears the bits after the end of the text. */
  #trim(): this {
    const last = this.wordCount - 1
    this.#words[last] = this.#word(last) & (-1 >>> (31 - (this.length & 31)))
    return this
  }
}
