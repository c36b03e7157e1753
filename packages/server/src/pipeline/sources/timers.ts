import type { Clock } from '../../platform/clock.ts'

/** The timers of one connection, which end together. */
export class Timers {
  readonly #clock: Clock
  readonly #cancels = new Set<() => void>()
  #isCleared = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  every(ms: number, work: () => void): void {
    if (this.#isCleared) return
    const cancel = this.#clock.wakeAt(this.#clock.now() + ms, () => {
      this.#cancels.delete(cancel)
      work()
      this.every(ms, work)
    })
    this.#cancels.add(cancel)
  }

  /** Ends early when the timers are cleared. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isCleared) {
        resolve()
        return
      }
      const cancel = this.#clock.wakeAt(this.#clock.now() + ms, () => end())
      const end = (): void => {
        cancel()
        this.#cancels.delete(end)
        resolve()
      }
      this.#cancels.add(end)
    })
  }

  clear(): void {
    this.#isCleared = true
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
  }
}
