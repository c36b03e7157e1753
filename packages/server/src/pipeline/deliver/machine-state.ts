import { Fifo } from './fifo.ts'
import type { CrashPoint } from './crash-points.ts'
import { isQuiet, wantsRead } from './lane.ts'
import { MinHeap } from './min-heap.ts'
import type { DeliverLimits } from './limits.ts'
import type { Lane } from './lane.ts'
import type { Answer, Effect, Held, LaneKey } from './ports.ts'

interface Alarm {
  readonly at: number
  readonly lane: Lane
}

export interface MachineStateOptions {
  readonly limits: DeliverLimits
  readonly random: () => number
  /** Told of each crash point that is passed; the simulator may throw there. */
  readonly reached?: (point: CrashPoint) => void
}

/** What the parts of the machine share: the lanes, their alarms, the effects of this step, and patience with the store. */
export class MachineState {
  readonly limits: DeliverLimits
  readonly random: () => number
  readonly reached: ((point: CrashPoint) => void) | undefined
  readonly lanes = new Map<LaneKey, Lane>()
  readonly leaving = new Fifo<Lane>()
  readonly readQueue = new Fifo<Lane>()
  readonly #alarms = new MinHeap<Alarm>((a, b) => a.at < b.at)
  #effects: Effect[] = []
  #lastOp = 0
  #storeErrors = 0
  now = 0
  stopping = false
  /** Reckoned from when the call was made, so it is never later than the store's own reckoning. */
  leaseUntil = -Infinity
  /** After a store error nothing is asked of the store before this. */
  blockedUntil = -Infinity

  constructor(options: MachineStateOptions) {
    this.limits = options.limits
    this.random = options.random
    this.reached = options.reached
  }

  get blocked(): boolean {
    return this.now < this.blockedUntil
  }

  /** True while nobody else can have been granted our lanes. */
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

  /** Notes how the store fares; gives the value, or undefined when the operation was not done. */
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

  /** The lane of this very grant, unless it was given up or lost. */
  find(held: Held): Lane | undefined {
    const lane = this.lanes.get(held.lane)
    return lane?.fence === held.fence ? lane : undefined
  }

  /** Rings once, at the earliest moment asked for since it last rang. */
  alarm(lane: Lane, at: number): void {
    if (lane.alarmAt !== null && lane.alarmAt <= at) return
    lane.alarmAt = at
    this.#alarms.push({ at, lane })
  }

  /** Alarms that were replaced by earlier ones are dropped on the way: nobody wakes up for them. */
  nextAlarmAt(): number {
    for (;;) {
      const alarm = this.#alarms.peek()
      if (alarm === undefined) return Infinity
      if (alarm.lane.alarmAt === alarm.at) return alarm.at
      this.#alarms.pop()
    }
  }

  /** Lanes whose alarm is due, each once; the bound leaves the rest to the next step. */
  ringing(): Lane[] {
    const lanes: Lane[] = []
    while (this.nextAlarmAt() <= this.now && lanes.length < 1_000) {
      const alarm = this.#alarms.pop()
      if (alarm === undefined || alarm.lane.alarmAt !== alarm.at) continue
      alarm.lane.alarmAt = null
      lanes.push(alarm.lane)
    }
    return lanes
  }

  askRead(lane: Lane): void {
    if (lane.queue.inReadQueue || !wantsRead(lane, this)) return
    lane.queue.inReadQueue = true
    this.readQueue.push(lane)
  }

  /** Begins nothing more in this lane; it leaves when what runs has ended. `again`: it is then leased anew. */
  drain(lane: Lane, again: boolean): void {
    lane.tenure.again ||= again
    // Whatever it is to stop for now, it does not stay when that takes long.
    if (lane.mode === 'draining') lane.tenure.handOverUntil = null
    this.#beginNothing(lane)
  }

  /** Begins nothing more in this lane, so that another owner can take it soon; if its requests take too long, it stays. */
  handOver(lane: Lane): void {
    lane.tenure.handOverUntil = this.now + this.limits.handOverMs
    this.alarm(lane, lane.tenure.handOverUntil)
    this.#beginNothing(lane)
  }

  /** Its requests have not ended in time. */
  stay(lane: Lane): void {
    lane.mode = 'open'
    lane.tenure.handOverUntil = null
    lane.tenure.keptUntil = this.now + this.limits.keptMs
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
    lane.mode = 'lost'
    lane.queue.buffer = []
    if (this.lanes.get(lane.key) === lane) this.lanes.delete(lane.key)
  }
}
