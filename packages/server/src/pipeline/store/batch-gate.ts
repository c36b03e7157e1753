/** Paces the group commit: start immediately when idle, gather while busy. Pure; the caller runs the batches. */

export interface BatchGateLimits<Item> {
  readonly batchItemsMax: number
  readonly batchBytesMax: number
  readonly batchesInFlightMax: number
  /** How many items must wait before a batch starts beside another one: two small commits cost more than one. */
  readonly besideItemsMin: number
  /** How many items may wait. Beyond that, `enqueue` returns `full` and the caller answers 503. */
  readonly waitingItemsMax: number
  /** How many bytes may wait. An item larger than that may wait alone. */
  readonly waitingBytesMax: number
  readonly bytesOf: (item: Item) => number
}

export const BATCH_GATE_DEFAULTS = {
  batchItemsMax: 256,
  batchBytesMax: 8_388_608,
  batchesInFlightMax: 2,
  besideItemsMin: 16,
  waitingItemsMax: 10_000,
  waitingBytesMax: 268_435_456,
} as const

/** Gathers items into batches, in order. No item is dropped, repeated or overtaken; each batch ends with `finished`. */
export class BatchGate<Item> {
  readonly #limits: BatchGateLimits<Item>
  #waiting: Item[] = []
  #waitingBytes = 0
  #inFlight = 0

  constructor(limits: BatchGateLimits<Item>) {
    this.#limits = limits
  }

  /** Takes one item, or returns `full` when there is no room for it. */
  enqueue(item: Item): 'taken' | 'full' {
    const { waitingItemsMax, waitingBytesMax, bytesOf } = this.#limits
    const bytes = this.#waitingBytes + bytesOf(item)
    if (this.#waiting.length >= waitingItemsMax) return 'full'
    if (this.#waiting.length > 0 && bytes > waitingBytesMax) return 'full'
    this.#waiting.push(item)
    this.#waitingBytes = bytes
    return 'taken'
  }

  /** One batch has ended, whatever its outcome. */
  finished(): void {
    if (this.#inFlight === 0) throw new Error('finished() without a batch in flight')
    this.#inFlight -= 1
  }

  /** The batches to start now. */
  due(): readonly (readonly Item[])[] {
    const batches: Item[][] = []
    while (this.#mayStart()) {
      const batch = this.#waiting.splice(0, this.#nextSize())
      for (const item of batch) this.#waitingBytes -= this.#limits.bytesOf(item)
      batches.push(batch)
      this.#inFlight += 1
    }
    return batches
  }

  #mayStart(): boolean {
    if (this.#inFlight >= this.#limits.batchesInFlightMax) return false
    return this.#waiting.length >= (this.#inFlight === 0 ? 1 : this.#limits.besideItemsMin)
  }

  /** At least one: an item larger than the byte limit gets a separate batch. */
  #nextSize(): number {
    const { batchItemsMax, batchBytesMax, bytesOf } = this.#limits
    let bytes = 0
    let size = 0
    for (const item of this.#waiting.slice(0, batchItemsMax)) {
      bytes += bytesOf(item)
      if (size > 0 && bytes > batchBytesMax) break
      size += 1
    }
    return size
  }
}
