import type { Clock } from '../../../platform/clock.ts'

type Batch<Item, Result> = {
  readonly items: Item[]
  bytes: number
  readonly sent: Promise<Result>
  readonly flush: () => void
}

export type BatchBounds = {
  /** Items with the same key may share a batch. */
  readonly key: string
  readonly bytes: number
  readonly itemsMax: number
  readonly bytesMax: number
  readonly lingerMs: number
}

/**
 * Gathers items into batches, and gives each item the result of its batch. A batch is sent when it is full, when the next item would
 * exceed its byte limit, or when its first item has waited for `lingerMs`. After `endWaits`, nothing waits.
 */
export class Batches<Item, Result> {
  readonly #clock: Clock
  readonly #send: (items: readonly Item[]) => Promise<Result>
  readonly #open = new Map<string, Batch<Item, Result>>()
  #waits = true

  constructor(clock: Clock, send: (items: readonly Item[]) => Promise<Result>) {
    this.#clock = clock
    this.#send = send
  }

  add(item: Item, bounds: BatchBounds): Promise<Result> {
    const known = this.#open.get(bounds.key)
    if (known !== undefined && known.bytes + bounds.bytes > bounds.bytesMax) known.flush()
    const batch = this.#open.get(bounds.key) ?? this.#begin(bounds)
    batch.items.push(item)
    batch.bytes += bounds.bytes
    if (!this.#waits || batch.items.length >= bounds.itemsMax) batch.flush()
    return batch.sent
  }

  /** Sends every open batch now, because the process is about to stop. Later items do not wait. */
  endWaits(): void {
    this.#waits = false
    for (const batch of this.#open.values()) batch.flush()
  }

  #begin({ key, lingerMs }: BatchBounds): Batch<Item, Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const items: Item[] = []
    const flush = (): void => {
      if (this.#open.get(key) !== batch) return
      this.#open.delete(key)
      cancel()
      this.#send(items).then(resolve, reject)
    }
    const batch: Batch<Item, Result> = { items, bytes: 0, sent: promise, flush }
    const cancel = this.#clock.wakeAt(this.#clock.now() + lingerMs, flush)
    this.#open.set(key, batch)
    return batch
  }
}
