/** Messages that wait to be stored. When it is full, the newest are dropped and counted, so memory is bounded. */
export class FrameQueue {
  readonly #limits: { readonly framesMax: number; readonly bytesMax: number }
  #frames: string[] = []
  #bytes = 0
  #dropped = 0

  constructor(limits: { readonly framesMax: number; readonly bytesMax: number }) {
    this.#limits = limits
  }

  get length(): number {
    return this.#frames.length
  }

  push(frame: string): void {
    if (this.#frames.length >= this.#limits.framesMax || this.#bytes + frame.length > this.#limits.bytesMax) {
      this.#dropped += 1
      return
    }
    this.#frames.push(frame)
    this.#bytes += frame.length
  }

  /** The oldest messages, which stay until `remove`. */
  oldest(count: number): readonly string[] {
    return this.#frames.slice(0, count)
  }

  remove(count: number): void {
    for (const frame of this.#frames.splice(0, count)) this.#bytes -= frame.length
  }

  /** Gives up all messages that wait. */
  abandon(): void {
    this.#dropped += this.#frames.length
    this.remove(this.#frames.length)
  }

  /** The number of messages dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }
}
