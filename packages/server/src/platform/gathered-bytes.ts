const NOTHING = Buffer.alloc(0)

/** Bytes that arrive in pieces, in one buffer that grows: many small pieces take no more memory than a few large ones. */
export class GatheredBytes {
  #buffer: Buffer = NOTHING
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The bytes so far. Valid until the next change. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** `lengthMax`: the expected length, beyond which the buffer does not grow in advance. */
  append(piece: Buffer, lengthMax = Infinity): void {
    const length = this.#length + piece.length
    if (this.#length === 0) this.#buffer = piece
    else {
      if (length > this.#buffer.length) this.#grow(Math.max(length, Math.min(2 * this.#buffer.length, lengthMax)))
      piece.copy(this.#buffer, this.#length)
    }
    this.#length = length
  }

  /** Removes the first bytes and returns them. The rest moves, because nothing may write into bytes that were taken. */
  take(length = this.#length): Buffer {
    const taken = this.#buffer.subarray(0, length)
    this.#buffer = length === this.#length ? NOTHING : Buffer.from(this.#buffer.subarray(length, this.#length))
    this.#length -= length
    return taken
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafe(size)
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}
