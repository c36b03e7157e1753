import { MachineState, type MachineStateOptions } from './machine-state.ts'
import { Leases } from './leases.ts'
import { Reads } from './reads.ts'
import { StoreHealth, type Stalled } from './store-health.ts'
import { Turns } from './turns.ts'
import type { Arrival, Effect, Event, FirstBegins, StoreAnswer } from './ports.ts'

export interface DeliveryMachineOptions extends MachineStateOptions {
  /** Unique for each process start: nothing may ever have owned a lane under this name. */
  readonly owner: string
}

export interface DeliveryLoad {
  readonly lanes: number
  readonly requests: number
  readonly unsettled: number
}

type Life = 'running' | 'releasing' | 'stopped'

/**
 * The delivery core: events in, effects out, no I/O and no clock. The same events at the same times give the same effects.
 * `now` is in ms and must not go backwards; only its differences matter.
 */
export class DeliveryMachine {
  readonly #state: MachineState
  readonly #leases: Leases
  readonly #reads: Reads
  readonly #turns: Turns
  readonly #store: StoreHealth
  #life: Life = 'running'
  #drainUntil = Infinity
  #releaseOp = 0
  #wakeAt = Infinity

  constructor(options: DeliveryMachineOptions) {
    this.#state = new MachineState(options)
    this.#leases = new Leases(this.#state, options.owner)
    this.#reads = new Reads(this.#state)
    this.#turns = new Turns(this.#state)
    this.#store = new StoreHealth(options.limits.stalledMs)
  }

  /** The current load, for gauges. */
  get load(): DeliveryLoad {
    return { lanes: this.#state.lanes.size, requests: this.#turns.requests, unsettled: this.#turns.unsettled }
  }

  /** The store call that has failed or hung for too long, although the machine repeated it. */
  stalled(now: number): Stalled | undefined {
    return this.#life === 'running' ? this.#store.stalled(now) : undefined
  }

  handle(event: Event, now: number): Effect[] {
    return this.handleAll([event], now)
  }

  /**
   * Takes slots for deliveries that a commit is about to store, and returns the first attempts that this commit starts; undefined
   * when it starts none. After any outcome of the commit, the caller must send the event `turned`.
   */
  arriving(arrivals: readonly Arrival[], now: number): FirstBegins | undefined {
    this.#state.now = now
    return this.#life === 'running' && !this.#state.blocked ? this.#turns.arriving(arrivals) : undefined
  }

  /** Handles events that happened together in one step, so that their results go to the store together. */
  handleAll(events: readonly Event[], now: number): Effect[] {
    if (this.#life === 'stopped') return []
    this.#state.now = now
    for (const event of events) {
      if ('op' in event) this.#answered(event)
      else this.#take(event)
    }
    if (this.#life === 'running') this.#advance()
    if (this.#life === 'running') this.#sleep()
    const effects = this.#state.takeEffects()
    for (const effect of effects) if ('op' in effect) this.#store.asked(effect, now)
    return effects
  }

  #take(event: Exclude<Event, StoreAnswer>): void {
    switch (event.type) {
      case 'woke':
        this.#wakeAt = Infinity
        return
      case 'hinted':
        return this.#leases.hint(event)
      case 'offered':
        return this.#leases.offered(event.lanes)
      case 'disabled':
        return this.#halt(event.lanes)
      case 'responded':
        return this.#turns.responded(event.attempt_id, event.result)
      case 'stop':
        return this.#stop()
    }
  }

  #answered(event: StoreAnswer): void {
    this.#store.answered(event.op, { done: event.answer.outcome === 'done', now: this.#state.now })
    switch (event.type) {
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
    const state = this.#state
    for (const lane of state.takeFired()) {
      this.#leases.timerFired(lane)
      this.#reads.look(lane)
      this.#turns.timerFired(lane)
    }
    if (state.stopping && this.#drained()) return this.#release()
    if (state.blocked) return
    this.#leases.advance()
    if (!state.stopping) this.#reads.advance()
    this.#turns.advance()
  }

  #halt(lanes: readonly string[]): void {
    this.#state.reached?.('disabled')
    for (const key of lanes) {
      const lane = this.#state.lanes.get(key)
      if (lane !== undefined) this.#state.drain(lane, false)
    }
  }

  #stop(): void {
    this.#state.stopping = true
    this.#turns.noteAll()
    this.#state.reached?.('stopping')
    this.#drainUntil = Math.min(this.#drainUntil, this.#state.now + this.#state.limits.drainMs)
  }

  #drained(): boolean {
    const atRest = this.#turns.quiet && !this.#leases.leasing
    return atRest || this.#state.now >= this.#drainUntil
  }

  /** Ends the owner's lease, which frees all its lanes. If that fails, the lease expires by itself. */
  #release(): void {
    this.#life = 'releasing'
    // Results that came in this step are sent too; otherwise the next owner would repeat their deliveries.
    if (!this.#state.blocked) this.#turns.advance()
    if (this.#turns.requests > 0) this.#state.emit({ type: 'cut' })
    this.#releaseOp = this.#state.nextOp()
    this.#state.emit({
      type: 'release',
      op: this.#releaseOp,
      input: { owner: this.#leases.owner, lanes: 'all' },
      offered: [],
    })
  }

  #released(event: Extract<Event, { type: 'released' }>): void {
    if (this.#life === 'running') return this.#leases.released(event.op, event.answer)
    if (event.op !== this.#releaseOp) return
    this.#life = 'stopped'
    this.#state.emit({ type: 'stopped' })
  }

  /** One timer for everything that waits for a time. */
  #sleep(): void {
    const state = this.#state
    const next = state.blocked
      ? state.blockedUntil
      : Math.min(state.nextTimerAt(), this.#leases.nextWakeAt(), this.#turns.wakeAt)
    const until = Math.min(next, this.#drainUntil)
    if (until === this.#wakeAt || until === Infinity) return
    this.#wakeAt = until
    state.emit({ type: 'sleep', until })
  }
}
