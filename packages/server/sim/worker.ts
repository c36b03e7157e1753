import { DeliveryMachine } from '../src/pipeline/deliver/machine.ts'
import { answerTo, turnedOf } from './answers.ts'
import { crash } from './faults.ts'
import { ALIGNED_WITHIN_MS } from './secret-rules.ts'
import { SimSender } from './sender.ts'
import { fateOf, type Fate } from './sink.ts'
import { CRASH_POINTS, type CrashPoint } from '../src/pipeline/deliver/crash-points.ts'
import { TARGET_KEPT_MS } from '../src/pipeline/deliver/target-cache.ts'
import type {
  Answer,
  Arrival,
  Begun,
  Effect,
  Event,
  FirstBegins,
  SendResult,
  StoreCall,
} from '../src/pipeline/deliver/ports.ts'
import type { Witness } from './invariants.ts'
import type { Acceptance, HintType, Scene } from './scene.ts'

/**
 * Thrown at a crash point of the product. One error per point is made in advance, because a stack costs more than the rest of a
 * death.
 */
class Died extends Error {}
const DEAD = Symbol('dead')
const DEATHS = new Map(CRASH_POINTS.map((point) => [point, new Died(point)]))

/** A process: the machine under test, run against the simulated world with its faults. */
export class SimWorker implements Witness {
  readonly name: string
  readonly #world: Scene
  /** The error of its clock, constant until it restarts. */
  #skewMs = 0
  #machine: DeliveryMachine | null = null
  #sender: SimSender | null = null
  /** Rises at every start and crash. Events of an older life are ignored. */
  #life = 0
  #calls = 0
  #timer = { at: Infinity, earliest: Infinity }
  #firesAt = Infinity
  #pausedUntil = 0
  readonly #inbox: Event[] = []
  readonly #flights = new Map<string, Begun>()
  /** The lanes of the starts that each turn under way has asked for. */
  readonly #starts = new Map<number, readonly string[]>()
  clogged = false
  lastTroubleAt = -Infinity
  lastSlowStoreAt = -Infinity

  constructor(world: Scene, name: string) {
    this.#world = world
    this.name = name
  }

  get up(): boolean {
    return this.#machine !== null
  }

  get requests(): readonly Begun[] {
    return [...this.#flights.values()]
  }

  start(): void {
    if (this.up) return
    const { rng, machineLimits: limits, plan } = this.#world
    this.#life += 1
    this.#skewMs = plan.skewMs === 0 ? 0 : Math.round(rng.between(-plan.skewMs, plan.skewMs))
    this.#machine = new DeliveryMachine({
      owner: `${this.name}.${this.#life}`,
      random: rng.next,
      limits,
      reached: this.#reached,
    })
    this.#sender = new SimSender(
      this.#world,
      { alignedMs: rng.between(-ALIGNED_WITHIN_MS, ALIGNED_WITHIN_MS), skewMs: this.#skewMs },
      this.#inThisLife(),
    )
    this.#calls = 0
    this.#dispatch({ type: 'woke' })
  }

  /** Everything in memory is lost. Requests on the wire may still arrive. */
  crash(): void {
    if (!this.up) return
    this.#trouble('crashes')
    this.#end()
  }

  /** Only this process is suspended, as in a long garbage collection or a stopped virtual machine. */
  pause(durationMs: number): void {
    if (!this.up) return
    const { agenda } = this.#world
    this.#trouble('pauses')
    this.#pausedUntil = Math.max(this.#pausedUntil, agenda.now + durationMs)
    const life = this.#life
    agenda.at(this.#pausedUntil, () => {
      if (life !== this.#life || agenda.now < this.#pausedUntil) return
      this.lastTroubleAt = agenda.now
      this.lastSlowStoreAt = agenda.now
      for (const event of this.#inbox.splice(0)) this.#dispatch(event)
    })
  }

  stop(): void {
    if (!this.up) return
    this.#world.count('stops')
    this.#dispatch({ type: 'stop' })
  }

  hint(type: HintType, lanes: readonly string[]): void {
    if (type === 'changed') this.#dispatch({ type: 'hinted', about: 'settings', lanes })
    else this.#dispatch({ type, lanes })
  }

  accept(arrivals: readonly Arrival[], latencyMs: number): Acceptance | undefined {
    const { agenda } = this.#world
    const machine = this.#machine
    if (machine === null || agenda.now < this.#pausedUntil) return undefined
    const first = this.#unlessItDies(() => machine.arriving(arrivals, agenda.now + this.#skewMs))
    if (first === DEAD) return undefined
    const life = this.#life
    const alive = (): boolean => life === this.#life
    if (first === undefined) return { begins: [], alive, answer: () => {} }
    this.#world.count('first attempts', first.begins.length)
    if (latencyMs > 200) this.#slow()
    this.#takeSlots(first)
    const answer = (given: Answer<readonly Begun[]>): void => {
      if (!alive()) return
      if (latencyMs > 200 || given.outcome !== 'done') this.lastTroubleAt = agenda.now
      this.#dispatch({ type: 'turned', op: first.op, answer: turnedOf(given) })
    }
    return { begins: first.begins, alive, answer }
  }

  /** The world has new work: a worker that would sleep past its next sweep sets its timer again. */
  rouse(nextWorkAt: number): void {
    if (nextWorkAt + this.#world.limits.sweepMs < this.#timer.at) this.#setTimer(this.#timer.earliest)
  }

  #dispatch(event: Event): void {
    const { agenda } = this.#world
    if (this.#machine === null) return
    if (agenda.now < this.#pausedUntil) {
      this.#inbox.push(event)
      return
    }
    if (event.type === 'disabled' || (event.type === 'hinted' && event.about === 'settings'))
      for (const lane of event.lanes) this.#sender?.forget(lane)
    const machine = this.#machine
    const effects = this.#unlessItDies(() => machine.handle(event, agenda.now + this.#skewMs))
    if (effects === DEAD) return
    if (event.type === 'turned') this.#freeUnsent(event.op, effects)
    if (this.#world.tracing) this.#world.trace(`${this.name} < ${JSON.stringify(event)}`)
    for (const effect of effects) this.#run(effect)
  }

  /** If the worker dies midway, all effects are lost. */
  #unlessItDies<T>(step: () => T): T | typeof DEAD {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof Died)) throw error
      this.#world.count(`died: ${error.message}`)
      crash(this.#world, this)
      return DEAD
    }
  }

  readonly #reached = (point: CrashPoint): void => {
    const { calm, plan, rng } = this.#world
    if (!calm && plan.deaths > 0 && rng.chance(plan.deaths)) throw DEATHS.get(point) ?? new Died(point)
  }

  #run(effect: Effect): void {
    if (this.#world.tracing) this.#world.trace(`${this.name} > ${JSON.stringify(effect)}`)
    switch (effect.type) {
      case 'sleep':
        return this.#setTimer(effect.until - this.#skewMs)
      case 'send':
        return this.#send(effect.attempt, effect.ends_in_ms)
      case 'cut':
        this.#trouble('cuts')
        return this.#cut()
      case 'stopped':
        this.#end()
        this.#world.agenda.after(this.#world.rng.between(100, 5_000), () => this.start())
        return
      case 'turn':
        this.#takeSlots({ op: effect.op, begins: effect.input.begins })
        return this.#call(effect)
      case 'lease':
      case 'renew':
      case 'release':
      case 'read':
        return this.#call(effect)
    }
  }

  #takeSlots({ op, begins }: FirstBegins): void {
    const lanes = begins.map(({ lane }) => lane)
    this.#starts.set(op, lanes)
    const { agenda, invariants, store } = this.#world
    for (const lane of lanes) invariants.slots.took(this.name, store.lane(lane).workspace, agenda.now)
  }

  /** The slots of those starts that no request follows are free. */
  #freeUnsent(op: number, effects: readonly Effect[]): void {
    const unsent = [...(this.#starts.get(op) ?? [])]
    this.#starts.delete(op)
    for (const effect of effects) {
      const at = effect.type === 'send' ? unsent.indexOf(effect.attempt.lane) : -1
      if (at !== -1) unsent.splice(at, 1)
    }
    for (const lane of unsent) this.#freeSlot(lane)
  }

  #freeSlot(lane: string): void {
    const { agenda, invariants, store } = this.#world
    invariants.slots.freed(this.name, store.lane(lane).workspace, agenda.now)
  }

  #end(): void {
    this.#life += 1
    this.#machine = null
    this.#sender = null
    this.#pausedUntil = 0
    this.#inbox.length = 0
    this.#timer = { at: Infinity, earliest: Infinity }
    this.#cut()
    this.#starts.clear()
    this.#world.invariants.slots.ended(this.name, this.#world.agenda.now)
    this.#world.workChanged = true
  }

  /** Requests on the wire may still arrive. */
  #cut(): void {
    for (const attempt of this.#flights.values())
      this.#world.invariants.ended(attempt, this.#world.agenda.now, { answered: false })
    this.#flights.clear()
  }

  /** It owns no lane and waits for nothing. */
  get idle(): boolean {
    if (this.#machine === null || this.#calls > 0) return false
    const { lanes, requests, unsettled } = this.#machine.load
    return lanes + requests + unsettled === 0
  }

  /** Sweeps of an idle worker that can find nothing are skipped in step, so hours without events cost nothing. */
  #setTimer(earliest: number): void {
    const { agenda, store, rng, limits } = this.#world
    const workAt = this.idle && !this.#world.crowded ? store.nextWorkAt(agenda.now) : 0
    const at = workAt <= earliest ? earliest : workAt + rng.next() * limits.sweepMs
    this.#timer = { at, earliest }
    this.#fireBy(at)
  }

  /** One entry in the agenda at a time. If it fires too early, it moves itself. */
  #fireBy(at: number): void {
    if (at >= this.#firesAt) return
    const { agenda } = this.#world
    const firesAt = Math.max(Math.ceil(at), agenda.now)
    this.#firesAt = firesAt
    agenda.at(firesAt, () => {
      if (this.#firesAt !== firesAt) return
      this.#firesAt = Infinity
      if (agenda.now < this.#timer.at) return this.#fireBy(this.#timer.at)
      this.#timer = { at: Infinity, earliest: Infinity }
      this.#dispatch({ type: 'woke' })
    })
  }

  #call(effect: StoreCall): void {
    const { agenda, rng, plan } = this.#world
    this.#calls += 1
    // A worker with work sleeps no longer than its machine requested, even if no work was in sight.
    if (this.#timer.at > this.#timer.earliest) this.#setTimer(this.#timer.earliest)
    const life = this.#life
    const faults = this.clogged ? CLOGGED : plan.store
    const latencyMs = rng.chance(faults.slow) ? rng.between(200, 8_000) : rng.between(1, 20)
    const answer = (event: Event) => {
      if (life !== this.#life) return
      this.#calls -= 1
      // A slow call is trouble until it has ended: a late heartbeat may have lost starts that were made meanwhile.
      if (latencyMs > 200) this.lastTroubleAt = agenda.now
      this.#dispatch(event)
    }
    if (latencyMs > 200) this.#slow()
    const roll = rng.next()
    if (roll < faults.refused) {
      this.#trouble('refused')
      agenda.after(latencyMs, () => answer(answerTo(effect, { outcome: 'refused' })))
      return
    }
    if (roll < faults.refused + faults.unknown) {
      this.#trouble('unknown')
      // The operation may never happen, may have happened already, or may happen later than anyone expects.
      const appliesMs = rng.chance(0.3) ? rng.between(0, 10_000) : latencyMs * rng.next()
      if (rng.chance(0.6)) agenda.after(appliesMs, () => this.#apply(effect))
      agenda.after(latencyMs, () => answer(answerTo(effect, { outcome: 'unknown' })))
      return
    }
    if (rng.chance(0.75)) {
      agenda.after(latencyMs, () => answer(this.#apply(effect)))
      return
    }
    agenda.after(latencyMs / 2, () => {
      const event = this.#apply(effect)
      agenda.after(latencyMs / 2, () => answer(event))
    })
  }

  #apply(effect: StoreCall): Event {
    const { store, agenda } = this.#world
    // A read or a heartbeat makes no work.
    if (effect.type !== 'read' && effect.type !== 'renew') this.#world.workChanged = true
    const { op } = effect
    switch (effect.type) {
      case 'lease':
        return { type: 'leased', op, answer: { outcome: 'done', value: store.lease(agenda.now, effect.input) } }
      case 'renew':
        return { type: 'renewed', op, answer: { outcome: 'done', value: store.renew(agenda.now, effect.input) } }
      case 'release':
        return this.#release(effect)
      case 'read':
        return { type: 'read', op, answer: { outcome: 'done', value: store.read(agenda.now, effect.input) } }
      case 'turn': {
        const value = store.turn(agenda.now, effect.input)
        if (value.begun.length > 0) this.#world.begun(this, value.begun)
        return { type: 'turned', op, answer: { outcome: 'done', value } }
      }
    }
  }

  /** The process itself notifies the others, so they are not notified if it has died meanwhile. */
  #release({ op, input, offered }: Extract<StoreCall, { type: 'release' }>): Event {
    const { store, agenda } = this.#world
    const value = store.release(agenda.now, input)
    if (offered.length > 0 && this.up) {
      this.#world.count('offers', offered.length)
      for (const lane of offered) this.#world.invariants.shares.offered(lane)
      this.#world.notify('offered', offered)
    }
    return { type: 'released', op, answer: { outcome: 'done', value } }
  }

  #send(attempt: Begun, endsInMs: number): void {
    const world = this.#world
    const { agenda, invariants, plan, rng } = world
    const fate = fateOf(world.receiver(attempt.lane), agenda.now, { rng, network: plan.network })
    invariants.sending(attempt, agenda.now, { witness: this, hidden: fate.hidden })
    world.count('requests')
    if (fate.hidden) world.count('hidden')
    this.#flights.set(attempt.attempt_id, attempt)
    const tooLate = { type: 'failure', error_code: 'timeout' } as const
    this.#prepare(attempt, (delayMs) =>
      delayMs < endsInMs ? this.#leave(attempt, { fate, delayMs }) : this.#responded(attempt, tooLate),
    )
  }

  /** Looks up the secrets that sign the request. The look-up can take time or fail. */
  #prepare(attempt: Begun, leave: (delayMs: number) => void): void {
    const { agenda, invariants } = this.#world
    const [sender, askedAt] = [this.#sender, agenda.now]
    sender?.prepare(attempt.lane, (secrets) => {
      if (secrets === null) return this.#responded(attempt, { type: 'failure', error_code: 'connection_reset' })
      const knownSince = Math.max(askedAt - TARGET_KEPT_MS, sender.notifiedAt(attempt.lane))
      invariants.secrets.sent(attempt, secrets, { knownSince, now: agenda.now })
      leave(agenda.now - askedAt)
    })
  }

  /** The time of a read is a part of the time of the request. */
  #leave(attempt: Begun, { fate, delayMs }: { fate: Fate; delayMs: number }): void {
    const { agenda, invariants } = this.#world
    invariants.left(attempt, agenda.now)
    const arrivesMs = fate.arrives_ms === null ? null : Math.max(0, fate.arrives_ms - delayMs)
    const resultMs = Math.max(0, fate.result_ms - delayMs)
    const arrive = () => {
      if (fate.accepts) invariants.accepted(attempt)
    }
    const together = arrivesMs !== null && arrivesMs <= resultMs
    if (arrivesMs !== null && !together) agenda.after(arrivesMs, arrive)
    const life = this.#life
    agenda.after(resultMs, () => {
      if (together) arrive()
      if (life === this.#life) this.#responded(attempt, fate.result)
    })
  }

  #responded(attempt: Begun, result: SendResult): void {
    if (!this.#flights.delete(attempt.attempt_id)) return
    const succeeded = result.type === 'response' && result.status === 200
    this.#world.invariants.ended(attempt, this.#world.agenda.now, { answered: true, succeeded })
    this.#freeSlot(attempt.lane)
    this.#dispatch({ type: 'responded', attempt_id: attempt.attempt_id, result })
  }

  /** Returns a function that runs things when this process is awake, and never if it has died meanwhile. */
  #inThisLife(): (run: () => void) => void {
    const { agenda } = this.#world
    const life = this.#life
    const whenAwake = (run: () => void): void => {
      if (life !== this.#life) return
      if (agenda.now < this.#pausedUntil) agenda.at(this.#pausedUntil, () => whenAwake(run))
      else run()
    }
    return whenAwake
  }

  #slow(): void {
    this.lastSlowStoreAt = this.#world.agenda.now
    this.#trouble('slow')
  }

  #trouble(kind: string): void {
    this.lastTroubleAt = this.#world.agenda.now
    this.#world.count(kind)
  }
}

const CLOGGED = { refused: 0.3, unknown: 0.5, slow: 0.7 }
