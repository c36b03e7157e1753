import { Breaker } from '../../domain/breaker.ts'
import { isIdle, lookAfterMs, readLimit } from './lane.ts'
import type { Floor } from './floor.ts'
import type { Lane } from './lane.ts'
import type { Answer, LaneRead, ReadAnswer } from './ports.ts'

/** Fills the buffers of the lanes that ask for work, many lanes to a statement. */
export class Reads {
  readonly #floor: Floor
  readonly #reading = new Map<number, readonly Lane[]>()

  constructor(floor: Floor) {
    this.#floor = floor
  }

  /** Gives the lanes that may have become able to begin something. */
  answered(op: number, answer: Answer<ReadAnswer>): readonly Lane[] {
    const lanes = this.#reading.get(op)
    if (lanes === undefined) return []
    this.#reading.delete(op)
    for (const lane of lanes) lane.reading = false
    const value = this.#floor.valueOf(answer)
    if (value === undefined) {
      for (const lane of lanes) {
        this.#askAgain(lane)
        // While its breaker lets nothing more through it is not read, and no other alarm of it may be set.
        if (!lane.inReadQueue) this.#floor.alarm(lane, this.#floor.now + lookAfterMs(lane, this.#floor.limits))
      }
      return []
    }
    for (const read of value.lanes) {
      const lane = this.#floor.find(read)
      if (lane !== undefined) this.#fill(lane, read)
    }
    for (const lane of lanes) this.#floor.alarm(lane, this.#floor.now + lookAfterMs(lane, this.#floor.limits))
    this.#floor.reached?.('read')
    return lanes
  }

  /** A lane's alarm: it is given back when it has been idle, and read otherwise. This is the sweep of a lane we hold. */
  look(lane: Lane): void {
    const floor = this.#floor
    if (lane.mode !== 'open') return
    if (isIdle(lane, floor.limits, floor.now)) return floor.leave(lane)
    this.#askAgain(lane)
    const waitsUntil = lane.breaker.waitsUntil(floor.now)
    if (waitsUntil !== null) return this.#waitForProbe(lane, waitsUntil)
    if (!lane.inReadQueue) floor.alarm(lane, floor.now + lookAfterMs(lane, floor.limits))
  }

  advance(): void {
    const { limits, readQueue } = this.#floor
    while (readQueue.size > 0 && this.#reading.size < limits.readsInFlightMax) {
      const lanes = readQueue.take(limits.lanesPerReadMax)
      for (const lane of lanes) lane.inReadQueue = false
      const open = lanes.filter((lane) => lane.mode === 'open')
      if (open.length > 0) this.#read(open)
    }
  }

  #read(lanes: readonly Lane[]): void {
    const floor = this.#floor
    const op = floor.nextOp()
    this.#reading.set(op, lanes)
    const reads = lanes.map((lane) => {
      const recent = lane.more === 'recent'
      lane.reading = true
      lane.more = 'nothing'
      lane.changed = false
      // What falls due later is told anew, but by a look at what is recent only some of it.
      if (!recent) lane.nextDue = null
      const limit = readLimit(lane, floor.limits)
      const asked = { lane: lane.key, fence: lane.fence, limit, exclude: [...lane.known] }
      if (lane.settings.ordered) return { ...asked, ordered: true }
      return recent ? { ...asked, recent } : asked
    })
    floor.emit({ type: 'read', op, input: { reads } })
  }

  #fill(lane: Lane, read: LaneRead): void {
    const floor = this.#floor
    if (read.status === 'lost') return floor.lose(lane)
    if (read.status === 'paused') return floor.drain(lane, false)
    if (lane.mode !== 'open') return
    if (read.settings.breaker_resets !== lane.settings.breaker_resets) lane.breaker = new Breaker()
    lane.settings = read.settings
    if (read.next_due_in_ms !== null) lane.nextDue = Math.min(lane.nextDue ?? Infinity, floor.now + read.next_due_in_ms)
    if (read.due.length > 0) lane.lastBusy = floor.now
    if (read.due.length >= readLimit(lane, floor.limits)) lane.more = 'all'
    for (const deliveryId of read.due) {
      if (lane.known.has(deliveryId)) continue
      lane.known.add(deliveryId)
      lane.buffer.push(deliveryId)
    }
    // A hint that came while this read was under way has set `more`: the read may have missed it.
    floor.askRead(lane)
    if (lane.nextDue !== null) floor.alarm(lane, Math.max(lane.nextDue, floor.now + floor.limits.dueGapMs))
  }

  #waitForProbe(lane: Lane, until: number): void {
    const { limits, now } = this.#floor
    const idleAt = lane.lastBusy + limits.laneIdleMs
    // Past that it is still here because a note or a result of it is under way, or because the probe is near.
    this.#floor.alarm(lane, Math.min(until, idleAt > now ? idleAt : now + limits.sweepMs))
  }

  #askAgain(lane: Lane): void {
    lane.more = 'all'
    this.#floor.askRead(lane)
  }
}
