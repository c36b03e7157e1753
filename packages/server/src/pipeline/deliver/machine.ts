import { Floor } from './floor.ts'
import { Leases } from './leases.ts'
import { Reads } from './reads.ts'
import { Turns } from './turns.ts'
import type { CrashPoint } from './crash-points.ts'
import type { DeliverLimits } from './limits.ts'
import type { Effect, Event } from './ports.ts'

export interface DeliveryMachineOptions {
  /** Unique per process start: nothing may ever have held a lane under this name. */
  readonly owner: string
  readonly random: () => number
  readonly limits: DeliverLimits
  /** Told of each crash point that is passed. */
  readonly reached?: (point: CrashPoint) => void
}

export interface DeliveryLoad {
  readonly lanes: number
  readonly requests: number
  readonly unsettled: number
}

type Life = 'running' | 'releasing' | 'stopped'

/**
 * The delivery core: events in, effects out, no I/O and no clock of its own. The same events at the same times give the
 * same effects. `now` is in ms and must not go backwards; only its differences matter.
 */
export class DeliveryMachine {
  readonly #floor: Floor
  readonly #leases: Leases
  readonly #reads: Reads
  readonly #turns: Turns
  #life: Life = 'running'
  #drainUntil = Infinity
  #releaseOp = 0
  #alarmAt = Infinity

  constructor(options: DeliveryMachineOptions) {
    this.#floor = new Floor(options)
    this.#leases = new Leases(this.#floor, options.owner)
    this.#reads = new Reads(this.#floor)
    this.#turns = new Turns(this.#floor)
  }

  /** What it holds right now, for gauges. */
  get load(): DeliveryLoad {
    return { lanes: this.#floor.lanes.size, requests: this.#turns.requests, unsettled: this.#turns.unsettled }
  }

  handle(event: Event, now: number): Effect[] {
    return this.handleAll([event], now)
  }

  /** What happened at once is taken in at once, so that its results go to the store together. */
  handleAll(events: readonly Event[], now: number): Effect[] {
    if (this.#life === 'stopped') return []
    this.#floor.now = now
    for (const event of events) this.#take(event)
    if (this.#life === 'running') this.#advance()
    if (this.#life === 'running') this.#sleep()
    return this.#floor.takeEffects()
  }

  #take(event: Event): void {
    switch (event.type) {
      case 'woke':
        this.#alarmAt = Infinity
        return
      case 'hinted':
        return this.#leases.hint(event)
      case 'halted':
        return this.#halt(event.lanes)
      case 'responded':
        return this.#turns.responded(event.attempt_id, event.result)
      case 'stop':
        return this.#stop()
      case 'leased':
        return this.#leases.leased(event.op, event.answer)
      case 'renewed':
        return this.#leases.renewed(event.op, event.answer)
      case 'released':
        return this.#released(event)
      case 'read':
        for (const lane of this.#reads.answered(event.op, event.answer)) this.#turns.ready(lane)
        return
      case 'turned':
        return this.#turns.answered(event.op, event.answer)
    }
  }

  #advance(): void {
    const floor = this.#floor
    for (const lane of floor.ringing()) {
      this.#reads.look(lane)
      this.#turns.rung(lane)
    }
    if (floor.stopping && this.#drained()) return this.#release()
    if (floor.blocked) return
    this.#leases.advance()
    if (!floor.stopping) this.#reads.advance()
    this.#turns.advance()
  }

  #halt(lanes: readonly string[]): void {
    this.#floor.reached?.('halted')
    for (const key of lanes) {
      const lane = this.#floor.lanes.get(key)
      if (lane !== undefined) this.#floor.drain(lane, false)
    }
  }

  #stop(): void {
    this.#floor.stopping = true
    this.#turns.noteAll()
    this.#floor.reached?.('stopping')
    this.#drainUntil = Math.min(this.#drainUntil, this.#floor.now + this.#floor.limits.drainMs)
  }

  #drained(): boolean {
    const atRest = this.#turns.quiet && !this.#leases.leasing
    return atRest || this.#floor.now >= this.#drainUntil
  }

  /** Ends the owner's lease, and with it the hold on every lane. If that fails, time does it. */
  #release(): void {
    this.#life = 'releasing'
    if (this.#turns.requests > 0) this.#floor.emit({ type: 'cut' })
    this.#releaseOp = this.#floor.nextOp()
    this.#floor.emit({ type: 'release', op: this.#releaseOp, input: { owner: this.#leases.owner, lanes: 'all' } })
  }

  #released(event: Extract<Event, { type: 'released' }>): void {
    if (this.#life === 'running') return this.#leases.released(event.op, event.answer)
    if (event.op !== this.#releaseOp) return
    this.#life = 'stopped'
    this.#floor.emit({ type: 'stopped' })
  }

  /** One alarm for everything that waits for time. */
  #sleep(): void {
    const floor = this.#floor
    const next = floor.blocked ? floor.blockedUntil : Math.min(floor.nextAlarmAt(), this.#leases.nextWakeAt())
    const until = Math.min(next, this.#drainUntil)
    if (until === this.#alarmAt || until === Infinity) return
    this.#alarmAt = until
    floor.emit({ type: 'sleep', until })
  }
}
