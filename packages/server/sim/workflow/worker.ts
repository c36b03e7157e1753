import { WORKFLOW_CRASH_POINTS, type WorkflowCrashPoint } from '../../src/pipeline/workflow/crash-points.ts'
import { InstanceRun } from '../../src/pipeline/workflow/instance-run.ts'
import { WORKFLOW_LIMITS, WorkflowMachine } from '../../src/pipeline/workflow/machine.ts'
import type { Place } from '../../src/pipeline/workflow/instance.ts'
import type { Answer, Effect, Event } from '../../src/pipeline/workflow/ports.ts'
import type { Agenda } from '../agenda.ts'
import type { Rng } from '../rng.ts'
import type { SimWorkflowStore } from './store.ts'

/** The parts of the world that a worker uses. */
export interface WorkflowScene {
  readonly agenda: Agenda
  readonly rng: Rng
  readonly store: SimWorkflowStore
  readonly uuid: () => string
  readonly place: Place
  readonly faults: {
    readonly refused: number
    readonly unknown: number
    readonly slow: number
    readonly deaths: number
  }
  readonly tracing: boolean
  trace(line: string): void
  count(what: string): void
  /** Reports that something may have become due, or may have ended a wait. */
  hint(about: 'instances' | 'records'): void
}

class Died extends Error {}
const DEATHS = new Map(WORKFLOW_CRASH_POINTS.map((point) => [point, new Died(point)]))

/** Small, so that batches and limits are reached. The lease is short, so that claims expire while their owner still works. */
const LIMITS = { ...WORKFLOW_LIMITS, claimMax: 4, claimedMax: 8, leaseMs: 20_000 }

type Call = Exclude<Effect, { type: 'rested' | 'advance' }>

/** A process: the machine under test, run against the simulated database with its faults. */
export class WorkflowWorker {
  readonly name: string
  readonly #scene: WorkflowScene
  #machine: WorkflowMachine | null = null
  /** Rises at every start and crash. Events of an older life are ignored. */
  #life = 0
  #pausedUntil = 0
  readonly #inbox: Event[] = []
  #stopping = false

  constructor(scene: WorkflowScene, name: string) {
    this.#scene = scene
    this.name = name
  }

  get up(): boolean {
    return this.#machine !== null
  }

  start(): void {
    if (this.up) return
    this.#life += 1
    this.#stopping = false
    this.#machine = new WorkflowMachine({ limits: LIMITS, reached: this.#reached })
    this.#tick(this.#life)
  }

  #tick(life: number): void {
    if (life !== this.#life || this.#stopping) return
    this.#dispatch({ type: 'woke' })
    this.#scene.agenda.after(1_000, () => this.#tick(life))
  }

  /** Everything in memory is lost. Calls on their way may still be committed. */
  crash(): void {
    if (!this.up) return
    this.#scene.count('crashes')
    this.#end()
    this.#scene.agenda.after(this.#scene.rng.between(10, 60_000), () => this.start())
  }

  stop(): void {
    if (!this.up || this.#stopping) return
    this.#scene.count('stops')
    this.#stopping = true
    this.#dispatch({ type: 'stop' })
  }

  /** Only this process stops, as in a long garbage collection. */
  pause(durationMs: number): void {
    if (!this.up) return
    const { agenda } = this.#scene
    this.#scene.count('pauses')
    this.#pausedUntil = Math.max(this.#pausedUntil, agenda.now + durationMs)
    const life = this.#life
    agenda.at(this.#pausedUntil, () => {
      if (life !== this.#life || agenda.now < this.#pausedUntil) return
      for (const event of this.#inbox.splice(0)) this.#dispatch(event)
    })
  }

  hint(about: 'instances' | 'records' | 'workspaces'): void {
    if (!this.#stopping) this.#dispatch({ type: 'hinted', about })
  }

  #end(): void {
    this.#life += 1
    this.#machine = null
    this.#pausedUntil = 0
    this.#inbox.length = 0
  }

  #dispatch(event: Event): void {
    const { agenda } = this.#scene
    if (this.#machine === null) return
    if (agenda.now < this.#pausedUntil) {
      this.#inbox.push(event)
      return
    }
    if (this.#scene.tracing && event.type !== 'woke') this.#scene.trace(`${this.name} < ${said(event)}`)
    for (const effect of this.#handle(this.#machine, event)) this.#run(effect)
  }

  #handle(machine: WorkflowMachine, event: Event): readonly Effect[] {
    try {
      return machine.handle(event, this.#scene.agenda.now)
    } catch (error) {
      if (!(error instanceof Died)) throw error
      this.#scene.count(`died: ${error.message}`)
      this.crash()
      return []
    }
  }

  readonly #reached = (point: WorkflowCrashPoint): void => {
    if (this.#scene.rng.chance(this.#scene.faults.deaths)) throw DEATHS.get(point) ?? new Died(point)
  }

  #run(effect: Effect): void {
    const { agenda, rng, uuid, place } = this.#scene
    if (effect.type === 'rested') {
      if (!this.#stopping) return
      this.#end()
      agenda.after(rng.between(100, 5_000), () => this.start())
      return
    }
    if (effect.type !== 'advance') return this.#call(effect)
    const life = this.#life
    const means = { now: agenda.now, uuid, place }
    const runs = effect.instances.map((instance) => new InstanceRun(instance, means).advance())
    agenda.after(rng.chance(0.05) ? rng.between(0, 5_000) : 0, () => {
      if (life === this.#life) this.#dispatch({ type: 'advanced', op: effect.op, runs })
    })
  }

  #call(call: Call): void {
    const { agenda, rng, faults } = this.#scene
    const life = this.#life
    const latencyMs = rng.chance(faults.slow) ? rng.between(200, 30_000) : rng.between(1, 20)
    if (latencyMs > 200) this.#scene.count('slow')
    const answer = (given: Answer<never>): void => {
      if (life === this.#life) this.#dispatch(answerTo(call, given))
    }
    const roll = rng.next()
    if (roll < faults.refused) {
      this.#scene.count('refused')
      agenda.after(latencyMs, () => answer({ outcome: 'refused' }))
      return
    }
    if (roll < faults.refused + faults.unknown) {
      this.#scene.count('unknown')
      // The call may never be committed, may be committed already, or may be committed later than anyone expects.
      const appliesMs = rng.chance(0.3) ? rng.between(0, 40_000) : latencyMs * rng.next()
      if (rng.chance(0.6)) agenda.after(appliesMs, () => this.#apply(call, () => undefined))
      agenda.after(latencyMs, () => answer({ outcome: 'unknown' }))
      return
    }
    agenda.after(latencyMs / 2, () =>
      this.#apply(call, (value) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the value belongs to the call
        agenda.after(latencyMs / 2, () => answer({ outcome: 'done', value: value as never }))
      }),
    )
  }

  #apply(call: Call, done: (value: unknown) => void): void {
    const { agenda, rng, store } = this.#scene
    switch (call.type) {
      case 'claim':
        return done(store.claim(agenda.now, call.input))
      case 'settle':
        return done(store.settle(agenda.now, call.runs))
      case 'release':
        store.release(call.held)
        return done(null)
      case 'match': {
        const looked = store.look(agenda.now)
        if (looked === undefined) return done({ woken: 0, more: false, waits: true })
        agenda.after(rng.chance(0.2) ? rng.between(0, 500) : 1, () => done(store.match(agenda.now, looked)))
        return
      }
      case 'move':
        return done(store.move(agenda.now))
    }
  }
}

function answerTo({ type, op }: Call, answer: Answer<never>): Event {
  switch (type) {
    case 'claim':
      return { type: 'claimed', op, answer }
    case 'settle':
      return { type: 'settled', op, answer }
    case 'release':
      return { type: 'released', op, answer }
    case 'match':
      return { type: 'matched', op, answer }
    case 'move':
      return { type: 'moved', op, answer }
  }
}

const said = (event: Event): string =>
  'answer' in event
    ? `${event.type} ${event.answer.outcome}`
    : event.type === 'hinted'
      ? `hinted ${event.about}`
      : event.type
