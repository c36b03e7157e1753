import { Fifo } from './fifo.ts'
import type { CrashPoint } from './crash-points.ts'
import { isQuiet, wantsRead } from './lane.ts'
import { MinHeap } from './min-heap.ts'
import type { DeliverLimits } from './limits.ts'
import type { Lane } from './lane.ts'
import { Workspaces } from './workspaces.ts'
import type { Answer, Effect, Held, LaneKey } from './ports.ts'

interface Timer {
  readonly at: number
  readonly lane: Lane
}

export interface MachineStateOptions {
  readonly limits: DeliverLimits
  readonly random: () => number
  /** Called at each crash point that the machine passes. The simulator may throw there. */
  readonly reached?: (point: CrashPoint) => void
}

/**
 * The state that the parts of the machine share: the lanes, their timers, the effects of this step, and the backoff after store
 * errors.
 */
export class MachineState {
  readonly limits: DeliverLimits
  readonly random: () => number
  readonly reached: ((point: CrashPoint) => void) | undefined
  readonly lanes = new Map<LaneKey, Lane>()
  readonly workspaces = new Workspaces<Lane>()
  readonly leaving = new Fifo<Lane>()
  readonly readQueue = new Fifo<Lane>()
  readonly #timers = new MinHeap<Timer>((a, b) => a.at < b.at)
  #effects: Effect[] = []
  #lastOp = 0
  #storeErrors = 0
  now = 0
  stopping = false
  /** Counted from when the call was made, so it never ends later than the store's own lease. */
  leaseUntil = -Infinity
  /** After a store error, the machine makes no store call before this time. */
  blockedUntil = -Infinity

  constructor(options: MachineStateOptions) {
    this.limits = options.limits
    this.random = options.random
    this.reached = options.reached
  }

  get blocked(): boolean {
    return this.now < this.blockedUntil
  }

  /** True while no other owner can have been granted our lanes. */
  get alive(): boolean {
    return this.now < this.leaseUntil
  }

  emit(effect: Effect): void {
    this.#effects.push(effect)
  }

  nextOp(): number {
    this.#lastOp += 1
    return this.#lastOp
  }

  takeEffects(): Effect[] {
    const effects = this.#effects
    this.#effects = []
    return effects
  }

  /** Records whether the store works. Returns the value, or undefined when the operation was not done. */
  valueOf<Value>(answer: Answer<Value>): Value | undefined {
    if (answer.outcome === 'done') {
      this.#storeErrors = 0
      this.blockedUntil = -Infinity
      return answer.value
    }
    const { storeBackoffMs, storeBackoffMsMax } = this.limits
    const backoffMs = Math.min(storeBackoffMsMax, storeBackoffMs * 2 ** Math.min(this.#storeErrors, 16))
    this.#storeErrors += 1
    this.blockedUntil = this.now + backoffMs * (0.5 + this.random() / 2)
    return undefined
  }

  /** The lane of exactly this grant, unless it was given up or lost. */
  find(held: Held): Lane | undefined {
    const lane = this.lanes.get(held.lane)
    return lane?.fence === held.fence ? lane : undefined
  }

  /** Sets the lane's timer. It fires once, at the earliest time requested since it last fired. */
  setTimer(lane: Lane, at: number): void {
    if (lane.timerAt !== null && lane.timerAt <= at) return
    lane.timerAt = at
    this.#timers.push({ at, lane })
  }

  /** Drops timers that an earlier one has replaced, so that the machine does not wake for them. */
  nextTimerAt(): number {
    for (;;) {
      const timer = this.#timers.peek()
      if (timer === undefined) return Infinity
      if (timer.lane.timerAt === timer.at) return timer.at
      this.#timers.pop()
    }
  }

  /** Returns each lane whose timer has fired, once. The limit leaves the rest to the next step. */
  takeFired(): Lane[] {
    const lanes: Lane[] = []
    while (this.nextTimerAt() <= this.now && lanes.length < 1_000) {
      const timer = this.#timers.pop()
      if (timer === undefined || timer.lane.timerAt !== timer.at) continue
      timer.lane.timerAt = null
      lanes.push(timer.lane)
    }
    return lanes
  }

  askRead(lane: Lane): void {
    if (lane.queue.inReadQueue || !wantsRead(lane, this)) return
    lane.queue.inReadQueue = true
    this.readQueue.push(lane)
  }

  /** Starts nothing more in this lane; it leaves when its requests have ended. `again`: it is then leased again. */
  drain(lane: Lane, again: boolean): void {
    lane.tenure.again ||= again
    // Whatever the new reason for the stop is, the lane must not stay when its requests take long.
    if (lane.mode === 'draining') lane.tenure.handOverUntil = null
    this.#beginNothing(lane)
  }

  /** Starts nothing more in this lane, so that another owner can take it soon. If its requests take too long, it stays. */
  handOver(lane: Lane): void {
    lane.tenure.handOverUntil = this.now + this.limits.handOverMs
    this.setTimer(lane, lane.tenure.handOverUntil)
    this.#beginNothing(lane)
  }

  /** The requests of the lane did not end in time. */
  stay(lane: Lane): void {
    lane.mode = 'open'
    lane.tenure.handOverUntil = null
    lane.tenure.retainedUntil = this.now + this.limits.retainedMs
    lane.queue.more = 'all'
    this.askRead(lane)
  }

  #beginNothing(lane: Lane): void {
    if (lane.mode !== 'open') return
    lane.mode = 'draining'
    this.forgetBuffer(lane)
    this.leaveIfQuiet(lane)
  }

  forgetBuffer(lane: Lane): void {
    for (const deliveryId of lane.queue.buffer) lane.queue.known.delete(deliveryId)
    lane.queue.buffer = []
  }

  leaveIfQuiet(lane: Lane): void {
    if (lane.mode === 'draining' && isQuiet(lane) && !lane.note.writing) this.leave(lane)
  }

  leave(lane: Lane): void {
    lane.mode = 'leaving'
    this.leaving.push(lane)
  }

  lose(lane: Lane): void {
    if (lane.mode !== 'lost') this.workspaces.left(lane.workspace)
    lane.mode = 'lost'
    lane.queue.buffer = []
    if (this.lanes.get(lane.key) === lane) this.lanes.delete(lane.key)
  }
}
