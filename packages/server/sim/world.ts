import { DELIVER_LIMITS, type DeliverLimits } from '../src/pipeline/deliver/limits.ts'
import { Agenda } from './agenda.ts'
import { healAll, scheduleFaults, spite } from './faults.ts'
import { scheduleCrowd, scheduleRush } from './crowd.ts'
import { SimIngest } from './ingest.ts'
import { Invariants } from './invariants.ts'
import { scheduleFlood } from './flood.ts'
import { drawPlan, drawSlotsPlan, FAULTS_MS, HOUR_MS, NO_NETWORK_FAULTS, NO_STORE_FAULTS } from './plan.ts'
import { Rng } from './rng.ts'
import { Secrets } from './secrets.ts'
import { SimStore } from './store.ts'
import { Violation } from './violation.ts'
import { SimWorker } from './worker.ts'
import type { Begun } from '../src/pipeline/deliver/ports.ts'
import type { Plan } from './plan.ts'
import type { Receiver } from './sink.ts'
import type { Delivery } from './rows.ts'
import type { Plant } from './plants.ts'
import type { HintType, Player, Scene } from './scene.ts'

export type Mode = 'safety' | 'liveness'

export interface RunInput {
  readonly seed: number
  readonly mode: Mode
  /** In a world of slots, processes have few slots for requests, and some workspaces have too much work. */
  readonly isOfSlots?: boolean
  readonly plant?: Plant | undefined
  readonly trace?: (line: string) => void
}

export interface RunReport {
  readonly violation: string | null
  readonly simulatedMs: number
  readonly counts: Readonly<Record<string, number>>
}

/** So short that a read of recent deliveries leaves out most of those that wait for a retry. */
const RECENT_MS = 2_000
/** As in production, but a quiet lane is given back sooner, because waiting for that would be most of the work. */
const LIMITS = { ...DELIVER_LIMITS, laneIdleMs: 4_000, elsewhereMs: 2_000 }
const STEPS_MAX = 300_000
/** The faults, the longest schedule and the last `Retry-After` have ended. */
const REST_MS = 300 * HOUR_MS
const BUSY_MS = 60_000
const DRILL_AFTER_MS = 30_000
const CROWD_AFTER_MS = 120_000
/** Plants that remove a bound of the machine. */
const PLANTED_LIMITS: Partial<Record<Plant, Partial<DeliverLimits>>> = {
  'no-ramp': { requestsShare: 1_000_000 },
  'no-reserve': { requestsReserved: 0 },
}

/** One world of one seed: lanes, workers, receivers, a store, and the faults of its plan. */
class World implements Scene {
  readonly agenda = new Agenda()
  readonly limits: DeliverLimits
  readonly machineLimits: DeliverLimits
  readonly rng: Rng
  readonly plan: Plan
  readonly plant: Plant | undefined
  readonly store: SimStore
  readonly secrets: Secrets
  readonly invariants: Invariants
  readonly workers: readonly SimWorker[]
  readonly receivers = new Map<string, Receiver>()
  readonly #counts = new Map<string, number>()
  readonly #input: RunInput
  readonly #ingest: SimIngest
  /** True once the faults have stopped. */
  calm = false
  crowded = false
  /** Set by every event that may have made work for workers that have none. */
  workChanged = false

  constructor(input: RunInput) {
    this.#input = input
    this.plant = input.plant
    this.rng = new Rng(input.seed)
    this.plan = input.isOfSlots === true ? drawSlotsPlan(this.rng) : drawPlan(this.rng)
    this.limits = { ...LIMITS, sweepMs: this.plan.sweepMs, ...this.plan.slots }
    this.machineLimits = { ...this.limits, ...(input.plant === undefined ? {} : PLANTED_LIMITS[input.plant]) }
    const gone = this.plan.lanes.filter(({ nature }) => nature === 'gone')
    const goneLanes = new Set(gone.map(({ lane }) => lane))
    const dead = this.plan.lanes.filter((lane) => lane.nature === 'dead' && lane.hopeless)
    const hopelessLanes = new Set(dead.map(({ lane }) => lane))
    this.invariants = new Invariants({
      store: () => this.store,
      limits: this.limits,
      goneLanes,
      hopelessLanes,
      signsInEarnest: this.plan.signsInEarnest,
    })
    this.secrets = new Secrets(this.invariants.secrets.rotated)
    this.store = new SimStore({ watch: this.invariants.changed, plant: input.plant, recentMs: RECENT_MS })
    for (const { lane, workspace, settings, nature, hopeless, outage } of this.plan.lanes) {
      this.store.addLane({ lane, workspace, settings })
      this.secrets.add(lane)
      this.invariants.slots.addWorkspace(workspace)
      const timeoutMs = settings.timeout_ms
      this.receivers.set(lane, { lane, nature, hopeless, timeoutMs, outage, clogged: false, healed: false })
    }
    this.workers = Array.from({ length: this.plan.workers }, (_, index) => new SimWorker(this, `p${index}`))
    this.#ingest = new SimIngest(this)
  }

  get tracing(): boolean {
    return this.#input.trace !== undefined
  }

  /** Runs to the end of the mode. A broken rule ends the run immediately. */
  run(): RunReport {
    let violation: string | null = null
    try {
      this.#live()
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      violation = error.message
      if (this.tracing) this.trace(`VIOLATION ${violation}`)
    }
    this.count('duplicates', this.invariants.duplicates)
    return { violation, simulatedMs: this.agenda.now, counts: Object.fromEntries(this.#counts) }
  }

  trace(line: string): void {
    this.#input.trace?.(`${this.agenda.now.toFixed(1).padStart(12)} ${line}`)
  }

  count(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times)
    if (this.tracing) this.trace(`* ${what}`)
  }

  receiver(lane: string): Receiver {
    const receiver = this.receivers.get(lane)
    if (receiver === undefined) throw new Error(`no receiver ${lane}`)
    return receiver
  }

  anyDelivery(): Delivery | undefined {
    const rows = [...this.store.deliveries.values()]
    return rows.length === 0 ? undefined : this.rng.pick(rows)
  }

  /** Attempts have been committed, and their worker does not know yet. */
  begun(worker: Player, [first]: readonly Begun[]): void {
    if (!this.calm && first !== undefined && this.rng.chance(this.plan.spite)) spite(this, worker, first.lane)
  }

  /** Hints reach each worker, or not, and sometimes twice. */
  notify(type: HintType, lanes: readonly string[]): void {
    this.workChanged = true
    for (const worker of this.workers) {
      const times = this.rng.chance(this.plan.hintChance) ? this.rng.pick([1, 1, 2]) : 0
      for (let time = 0; time < times; time += 1) {
        this.agenda.after(this.rng.between(0, 50), () => worker.hint(type, lanes))
      }
    }
  }

  #live(): void {
    for (const worker of this.workers) this.agenda.after(this.rng.between(0, 1_000), () => worker.start())
    for (const burst of this.plan.bursts) {
      for (let index = 0; index < burst.requests; index += 1) {
        this.agenda.at(burst.at + this.rng.between(0, 500), () => this.#receive())
      }
    }
    this.#keepBusy()
    scheduleRush(this, this.#ingest)
    for (const from of this.plan.floods) scheduleFlood(this, { ingest: this.#ingest, from })
    scheduleFaults(this)
    this.#runUntil(FAULTS_MS)
    this.agenda.now = FAULTS_MS
    if (this.#input.mode === 'safety') return
    this.#calmDown()
    this.#drill()
    if (this.plan.slots !== null) scheduleFlood(this, { ingest: this.#ingest, from: this.agenda.now + CROWD_AFTER_MS })
    if (this.plan.crowd) scheduleCrowd(this, { ingest: this.#ingest, from: this.agenda.now + CROWD_AFTER_MS })
    for (let check = 2; check < 30; check += 1) {
      this.agenda.after(check * 20_000, () => this.invariants.nothingWaits(this.agenda.now))
    }
    this.#runUntil(this.agenda.now + REST_MS)
    this.invariants.atRest()
  }

  #keepBusy(): void {
    const { busyLane } = this.plan
    if (busyLane === null) return
    const from = FAULTS_MS - BUSY_MS
    this.agenda.at(from, () => (this.plan.store = { ...this.plan.store, unknown: 0.2 }))
    for (let at = from; at < FAULTS_MS + BUSY_MS; at += 1_500)
      this.agenda.at(at, () => this.#ingest.receive([busyLane]))
  }

  #receive(): void {
    const lanes = [...this.store.lanes.keys()]
    this.#ingest.receive(this.rng.shuffled(lanes).slice(0, this.rng.int(1, 2)))
  }

  #runUntil(until: number): void {
    let steps = 0
    while (this.agenda.step(until)) {
      if (this.workChanged) this.#rouse()
      steps += 1
      if (steps > STEPS_MAX) throw new Violation(`does not come to rest within ${STEPS_MAX} steps`)
    }
  }

  #rouse(): void {
    this.workChanged = false
    let nextWorkAt: number | null = null
    for (const worker of this.workers) {
      if (!worker.idle) continue
      nextWorkAt ??= this.crowded ? -Infinity : this.store.nextWorkAt(this.agenda.now)
      worker.rouse(nextWorkAt)
    }
  }

  #calmDown(): void {
    this.calm = true
    this.plan.store = NO_STORE_FAULTS
    this.plan.network = NO_NETWORK_FAULTS
    healAll(this)
    this.workChanged = true
    this.#rouse()
  }

  /** In a calm world one busy worker dies permanently. The others must take over within lease + sweep. */
  #drill(): void {
    const { agenda, rng } = this
    // Nobody takes over from the only process.
    if (this.workers.length < 2) return
    agenda.after(DRILL_AFTER_MS, () => {
      for (let index = 0; index < 4; index += 1) this.#receive()
    })
    for (let probe = 0; probe < 10; probe += 1) {
      agenda.after(DRILL_AFTER_MS + rng.between(20, 3_000), () => {
        const busy = this.workers.find((worker) => worker.requests.length > 0)
        if (busy === undefined || this.workers.some((worker) => !worker.up)) return
        const attempts = busy.requests
        this.count('drills')
        busy.crash()
        const crashedAt = agenda.now
        const withinMs = this.limits.leaseMs + this.limits.sweepMs + 200
        agenda.after(withinMs, () => this.invariants.recovered(attempts, crashedAt, agenda.now))
      })
    }
  }
}

/** Plays one seed. The same input gives the same report and the same trace. */
export function runSeed(input: RunInput): RunReport {
  return new World(input).run()
}
