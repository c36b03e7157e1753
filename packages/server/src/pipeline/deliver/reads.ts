import { Breaker } from '../../domain/delivery/breaker.ts'
import { isIdle, lookAfterMs, readLimit } from './lane.ts'
import type { MachineState } from './machine-state.ts'
import type { Lane } from './lane.ts'
import type { Answer, LaneRead, ReadAnswer } from './ports.ts'

/** Fills the buffers of the lanes that ask for work, many lanes per statement. */
export class Reads {
  readonly #state: MachineState
  readonly #reading = new Map<number, readonly Lane[]>()

  constructor(state: MachineState) {
    this.#state = state
  }

  /** Returns the lanes that may now be able to start an attempt. */
  answered(op: number, answer: Answer<ReadAnswer>): readonly Lane[] {
    const lanes = this.#reading.get(op)
    if (lanes === undefined) return []
    this.#reading.delete(op)
    for (const lane of lanes) lane.queue.reading = false
    const value = this.#state.valueOf(answer)
    if (value === undefined) {
      for (const lane of lanes) {
        this.#askAgain(lane)
        // While its breaker lets nothing more through, the lane is not read, and it may have no other timer.
        if (!lane.queue.inReadQueue) this.#state.setTimer(lane, this.#state.now + lookAfterMs(lane, this.#state.limits))
      }
      return []
    }
    for (const read of value.lanes) {
      const lane = this.#state.find(read)
      if (lane !== undefined) this.#fill(lane, read)
    }
    for (const lane of lanes) this.#state.setTimer(lane, this.#state.now + lookAfterMs(lane, this.#state.limits))
    this.#state.reached?.('read')
    return lanes
  }

  /**
   * The lane's timer fired: give the lane back if it has been idle, otherwise read it. This is the sweep of a lane that we
   * own.
   */
  look(lane: Lane): void {
    const state = this.#state
    if (lane.mode !== 'open') return
    if (isIdle(lane, state.limits, state.now)) return state.leave(lane)
    this.#askAgain(lane)
    const waitsUntil = lane.breaker.waitsUntil(state.now)
    if (waitsUntil !== null) return this.#waitForProbe(lane, waitsUntil)
    if (!lane.queue.inReadQueue) state.setTimer(lane, state.now + lookAfterMs(lane, state.limits))
  }

  advance(): void {
    const { limits, readQueue } = this.#state
    while (readQueue.size > 0 && this.#reading.size < limits.readsInFlightMax) {
      const lanes = readQueue.take(limits.lanesPerReadMax)
      for (const lane of lanes) lane.queue.inReadQueue = false
      const open = lanes.filter((lane) => lane.mode === 'open')
      if (open.length > 0) this.#read(open)
    }
  }

  #read(lanes: readonly Lane[]): void {
    const state = this.#state
    const op = state.nextOp()
    this.#reading.set(op, lanes)
    const reads = lanes.map((lane) => {
      const recent = lane.queue.more === 'recent'
      lane.queue.reading = true
      lane.queue.more = 'nothing'
      lane.queue.changed = false
      // A full read reports the next due time again, but a read of recent deliveries reports only a part of it.
      if (!recent) lane.queue.nextDue = null
      const limit = readLimit(lane, state.limits)
      const asked = { lane: lane.key, fence: lane.fence, limit, exclude: [...lane.queue.known] }
      if (lane.settings.ordered) return { ...asked, ordered: true }
      return recent ? { ...asked, recent } : asked
    })
    state.emit({ type: 'read', op, input: { reads } })
  }

  #fill(lane: Lane, read: LaneRead): void {
    const state = this.#state
    if (read.status === 'lost') return state.lose(lane)
    if (read.status === 'paused') return state.drain(lane, false)
    if (lane.mode !== 'open') return
    this.#takeSettings(lane, read)
    if (read.next_due_in_ms !== null)
      lane.queue.nextDue = Math.min(lane.queue.nextDue ?? Infinity, state.now + read.next_due_in_ms)
    if (read.due.length > 0) lane.lastBusy = state.now
    if (read.due.length >= readLimit(lane, state.limits)) lane.queue.more = 'all'
    for (const deliveryId of read.due) {
      if (lane.queue.known.has(deliveryId)) continue
      lane.queue.known.add(deliveryId)
      lane.queue.buffer.push(deliveryId)
    }
    // A hint that came during this read has set `more`, because the read may have missed the new work.
    state.askRead(lane)
    if (lane.queue.nextDue !== null)
      state.setTimer(lane, Math.max(lane.queue.nextDue, state.now + state.limits.dueGapMs))
  }

  /** Settings come with each read. A person may have closed the breaker or requested a probe. */
  #takeSettings(lane: Lane, { settings }: LaneRead): void {
    if (settings.breaker_resets !== lane.settings.breaker_resets) lane.breaker = new Breaker()
    if (settings.probes_asked !== lane.settings.probes_asked) lane.breaker.probeNow(this.#state.now)
    lane.settings = settings
  }

  #waitForProbe(lane: Lane, until: number): void {
    const { limits, now } = this.#state
    const idleAt = lane.lastBusy + limits.laneIdleMs
    // If the lane stays beyond that time, a note or a result of it is under way, or its probe is near.
    this.#state.setTimer(lane, Math.min(until, idleAt > now ? idleAt : now + limits.sweepMs))
  }

  #askAgain(lane: Lane): void {
    lane.queue.more = 'all'
    this.#state.askRead(lane)
  }
}
