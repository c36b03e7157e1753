import type { Place } from '../../src/pipeline/workflow/instance.ts'
import { Agenda } from '../agenda.ts'
import { Rng } from '../rng.ts'
import { Violation } from '../violation.ts'
import { DEFINITIONS_MADE, ENTRY_DATASETS, REPLIES } from './definitions.ts'
import type { WorkflowPlant } from './plants.ts'
import { WorkflowRules } from './rules.ts'
import { SimWorkflowStore, type Change } from './store.ts'
import { WorkflowWorker, type WorkflowScene } from './worker.ts'

export interface WorkflowRunInput {
  readonly seed: number
  readonly plant?: WorkflowPlant | undefined
  readonly trace?: (line: string) => void
}

const MINUTE_MS = 60_000
const FAULTS_MS = 10 * MINUTE_MS
/** The longest chain of waits, delays, retries and looks has ended. */
const REST_MS = 12 * 60 * MINUTE_MS
const STEPS_MAX = 400_000
const WORKSPACES = ['a', 'b'] as const
const CALM = { refused: 0, unknown: 0, slow: 0, deaths: 0 }

/** One world of one seed: workflows, events, two or three workers, and the faults of its plan. */
class WorkflowWorld implements WorkflowScene {
  readonly agenda = new Agenda()
  readonly rng: Rng
  readonly store: SimWorkflowStore
  readonly place: Place = { destination: () => ({ enabled: true, orderKeyOf: undefined }), counted: false }
  faults: WorkflowScene['faults']
  readonly #rules: WorkflowRules
  readonly #workers: readonly WorkflowWorker[]
  readonly #input: WorkflowRunInput
  readonly #counts = new Map<string, number>()
  #ids = 0
  #keys = 0
  #versions = 0
  #calm = false

  constructor(input: WorkflowRunInput) {
    this.#input = input
    this.rng = new Rng(input.seed)
    const { rng } = this
    this.faults = {
      refused: rng.pick([0, 0.02, 0.1]),
      unknown: rng.pick([0, 0.02, 0.1]),
      slow: rng.pick([0, 0.02, 0.1]),
      deaths: rng.pick([0, 0.002, 0.02]),
    }
    this.#rules = new WorkflowRules(() => this.store)
    const refusals = rng.pick([0, 0.1])
    this.store = new SimWorkflowStore({
      plant: input.plant,
      watch: this.#changed,
      uuid: this.uuid,
      refuses: () => !this.#calm && rng.chance(refusals),
    })
    this.#workers = Array.from({ length: rng.int(1, 3) }, (_, index) => new WorkflowWorker(this, `p${index}`))
  }

  readonly uuid = (): string => {
    this.#ids += 1
    return `01890000-0000-7000-8000-${this.#ids.toString(16).padStart(12, '0')}`
  }

  get tracing(): boolean {
    return this.#input.trace !== undefined
  }

  trace(line: string): void {
    this.#input.trace?.(`${this.agenda.now.toFixed(0).padStart(10)} ${line}`)
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
    if (this.tracing) this.trace(`* ${what}`)
  }

  hint(about: 'instances' | 'records' | 'workspaces'): void {
    for (const worker of this.#workers)
      if (this.rng.chance(0.5)) this.agenda.after(this.rng.between(0, 50), () => worker.hint(about))
  }

  run(): {
    readonly violation: string | null
    readonly simulatedMs: number
    readonly counts: Readonly<Record<string, number>>
  } {
    let violation: string | null = null
    try {
      this.#live()
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      violation = error.message
      if (this.tracing) this.trace(`VIOLATION ${violation}`)
    }
    return { violation, simulatedMs: this.agenda.now, counts: Object.fromEntries(this.#counts) }
  }

  #live(): void {
    const { agenda, rng } = this
    for (const dataset of ENTRY_DATASETS) this.#define(dataset)
    for (const worker of this.#workers) agenda.after(rng.between(0, 1_000), () => worker.start())
    this.#times(rng.int(3, 20), () => this.#start())
    this.#times(rng.int(0, 6), () => rng.pick(this.#workers).crash())
    this.#times(rng.int(0, 4), () => rng.pick(this.#workers).pause(rng.between(100, rng.pick([2_000, MINUTE_MS]))))
    this.#times(rng.int(0, 2), () => rng.pick(this.#workers).stop())
    this.#times(rng.int(0, 3), () => this.#suspend(rng.pick(WORKSPACES)))
    this.#times(rng.int(0, 2), () => this.#replace(rng.pick(ENTRY_DATASETS)))
    this.#times(rng.int(0, 1), () => this.#remove())
    this.#runUntil(FAULTS_MS)
    agenda.now = FAULTS_MS
    this.#calm = true
    this.faults = CALM
    for (const workspace of this.store.halted) this.#reinstate(workspace)
    for (const worker of this.#workers) worker.start()
    this.#runUntil(FAULTS_MS + REST_MS)
    this.#rules.atRest()
  }

  #times(count: number, act: () => void): void {
    for (let time = 0; time < count; time += 1)
      this.agenda.at(this.rng.between(0, FAULTS_MS), () => !this.#calm && act())
  }

  #runUntil(until: number): void {
    let steps = 0
    while (!(this.#calm && this.#ended()) && this.agenda.step(until)) {
      steps += 1
      if (steps > STEPS_MAX) throw new Violation(`does not come to rest within ${STEPS_MAX} steps`)
    }
  }

  #ended(): boolean {
    for (const row of this.store.instances.values()) if (row.due_at !== null) return false
    return true
  }

  /** A dataset gets a workflow, or the next version of its workflow. */
  #define(dataset: string): void {
    this.#versions += 1
    const program = this.rng.pick(DEFINITIONS_MADE)
    const version = { workflow: dataset, version: this.#versions, dataset, program }
    this.store.versions.set(`${dataset} ${version.version}`, version)
    this.store.active.set(dataset, version)
  }

  #start(): void {
    const { rng, store } = this
    const workspace = rng.pick(WORKSPACES)
    if (store.halted.has(workspace)) return
    this.#keys += 1
    const payload = { key: this.#keys, total: rng.int(0, 100), ok: rng.chance(0.5) }
    store.store(this.agenda.now, { workspace, dataset: rng.pick(ENTRY_DATASETS), payload, hops: 0, by: null })
    if (rng.chance(0.4)) this.#reply(workspace, { key: this.#keys, ok: true })
    // Records of others, with later ids.
    for (let count = rng.pick([0, 12]); count > 0; count -= 1) this.#reply(workspace, { key: 0, ok: true })
  }

  /** Some commits are slow, and come after those of later ids. */
  #reply(workspace: string, payload: { readonly key: unknown; readonly ok: boolean }): void {
    // A workspace that is suspended accepts nothing.
    if (this.store.halted.has(workspace)) return
    this.count('replies')
    const record = { id: this.uuid(), workspace, dataset: REPLIES, payload, hops: 0, by: null }
    if (this.rng.chance(0.7)) this.store.store(this.agenda.now, record)
    else this.agenda.after(this.rng.between(0, 1_000), () => this.store.store(this.agenda.now, record))
  }

  #suspend(workspace: string): void {
    if (this.store.halted.has(workspace)) return
    this.count('suspensions')
    this.store.halt(this.agenda.now, workspace)
    this.hint('workspaces')
    this.agenda.after(this.rng.between(100, this.rng.pick([5_000, 5 * MINUTE_MS])), () => this.#reinstate(workspace))
  }

  #reinstate(workspace: string): void {
    if (!this.store.halted.has(workspace)) return
    this.store.reinstate(this.agenda.now, workspace)
    this.hint('workspaces')
  }

  #replace(dataset: string): void {
    if (!this.store.active.has(dataset)) return
    this.count('replaced')
    this.#define(dataset)
  }

  #remove(): void {
    const dataset = this.rng.pick(ENTRY_DATASETS)
    this.count('removed')
    this.store.remove(this.agenda.now, dataset)
    // The versions go with the last instance, and a late claim finds none.
    if (this.rng.chance(0.5))
      for (const key of this.store.versions.keys()) if (key.startsWith(dataset)) this.store.versions.delete(key)
  }

  readonly #changed = (change: Change, now: number): void => {
    this.#rules.watch(change, now)
    if (this.tracing && 'row' in change) this.trace(`  ${change.type} ${change.row.id.slice(-4)} ${change.row.state}`)
    if (change.type === 'stored') this.hint('records')
    if (change.type === 'started') {
      this.count('started')
      this.hint('instances')
    }
    if (change.type === 'settled') this.#answer(change, now)
  }

  /** The rest of the world: replies to waits, the ends of deliveries and of AI runs. */
  #answer({ row, run }: Extract<Change, { type: 'settled' }>, now: number): void {
    const { agenda, rng, store } = this
    this.count('settled')
    if (run.stop.kind === 'ended') this.count(run.stop.state)
    for (const { id } of run.deliveries)
      agenda.after(rng.between(10, 90_000), () => {
        const delivery = store.deliveries.get(id)
        if (delivery !== undefined) delivery.state = rng.chance(0.7) ? 'delivered' : 'failed'
      })
    for (const { id } of run.aiRuns)
      agenda.after(rng.between(10, 90_000), () => {
        store.endRun(agenda.now, { id, state: rng.chance(0.7) ? 'succeeded' : 'failed' })
        this.hint('instances')
      })
    const { stop } = run
    if (stop.kind !== 'parked' || stop.wait?.kind !== 'event' || rng.chance(0.4)) return
    const [first] = stop.wait.conditions
    const key = first !== undefined && 'equals' in first ? first.equals : null
    const lastMs = stop.due_at - now
    const inMs = rng.pick([
      0,
      rng.between(0, 20),
      rng.between(0, 1_000),
      rng.between(0, lastMs),
      lastMs - 1,
      lastMs + rng.between(-50, 50),
    ])
    agenda.after(Math.max(0, inMs), () => this.#reply(row.workspace, { key, ok: rng.chance(0.8) }))
  }
}

/** Plays one seed. The same input gives the same report and the same trace. */
export function runWorkflowSeed(input: WorkflowRunInput): ReturnType<WorkflowWorld['run']> {
  return new WorkflowWorld(input).run()
}
