import { mayTakeSlot, type SlotRules } from '../../domain/delivery/slot-share.ts'
import type { Clock } from '../../platform/clock.ts'

/** Payloads up to this size come with the start of their attempt. The slots bound how many there are. */
export const INLINE_BYTES_MAX = 16_384

/** The memory of a process for larger payloads and for bodies that templates render, in bytes. */
export const PAYLOAD_MEMORY: SlotRules = { all: 134_217_728, reserved: 16_777_216, share: 8 }

export type Holder = { readonly workspaceId: string; readonly lane: string }

/** A part of the memory, until it is freed. */
export type Held = { readonly resize: (bytes: number) => void; readonly free: () => void }

type Waiter = { readonly of: Holder; readonly bytes: number; readonly grant: (held: Held | undefined) => void }

/**
 * Bounds the memory of payloads whose requests are under way. Workspaces share it as they share the slots. Those that must wait are
 * asked again, oldest first, whenever some is freed.
 */
export class PayloadMemory {
  readonly #clock: Clock
  readonly #rules: SlotRules
  readonly #inUse = new Map<string, number>()
  #all = 0
  #waiting: Waiter[] = []

  constructor(clock: Clock, rules = PAYLOAD_MEMORY) {
    this.#clock = clock
    this.#rules = rules
  }

  /** Bytes in use. */
  get inUse(): number {
    return this.#all
  }

  /** undefined: there was no room within `patienceMs`. */
  take(of: Holder, { bytes, patienceMs }: { bytes: number; patienceMs: number }): Held | Promise<Held | undefined> {
    if (this.#hasRoom(of, bytes)) return this.#hold(of, bytes)
    const { promise, resolve } = Promise.withResolvers<Held | undefined>()
    const waiter: Waiter = {
      of,
      bytes,
      grant: (held) => {
        cancel()
        resolve(held)
      },
    }
    const cancel = this.#clock.wakeAt(this.#clock.now() + patienceMs, () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter)
      resolve(undefined)
    })
    this.#waiting.push(waiter)
    return promise
  }

  #hasRoom({ workspaceId, lane }: Holder, bytes: number): boolean {
    const inUse = {
      all: this.#all,
      ofWorkspace: this.#inUse.get(workspaceId) ?? 0,
      ofLane: this.#inUse.get(lane) ?? 0,
      wanted: bytes,
    }
    return mayTakeSlot(inUse, this.#rules)
  }

  #hold(of: Holder, bytes: number): Held {
    let held = bytes
    this.#count(of, bytes)
    const resize = (to: number): void => {
      this.#count(of, to - held)
      const isLess = to < held
      held = to
      if (isLess) this.#askAgain()
    }
    return { resize, free: () => resize(0) }
  }

  #count({ workspaceId, lane }: Holder, bytes: number): void {
    this.#all += bytes
    for (const key of [workspaceId, lane]) {
      const inUse = (this.#inUse.get(key) ?? 0) + bytes
      if (inUse === 0) this.#inUse.delete(key)
      else this.#inUse.set(key, inUse)
    }
  }

  #askAgain(): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const waiter of waiting) {
      if (this.#hasRoom(waiter.of, waiter.bytes)) waiter.grant(this.#hold(waiter.of, waiter.bytes))
      else this.#waiting.push(waiter)
    }
  }
}
