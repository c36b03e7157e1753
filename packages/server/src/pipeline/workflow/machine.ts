import type { WorkflowCrashPoint } from './crash-points.ts'
import type { InstanceRun } from './instance-run.ts'
import type { Held, Instance } from './instance.ts'
import type { Answer, Claimed, Effect, Event, Matched, Moved, Settled } from './ports.ts'

export type WorkflowLimits = {
  readonly claimMax: number
  readonly leaseMs: number
  readonly settlesInFlightMax: number
  /** Claimed instances that are not settled yet. */
  readonly claimedMax: number
  /** A failing store is asked again only after this time. */
  readonly restMs: number
}

export const WORKFLOW_LIMITS: WorkflowLimits = {
  claimMax: 200,
  // Much longer than a run, a batch and its commit can take. If a claim outlives it, the fence prevents harm.
  leaseMs: 60_000,
  settlesInFlightMax: 2,
  claimedMax: 400,
  restMs: 1_000,
}

export type WorkflowMachineOptions = {
  readonly limits: WorkflowLimits
  /** The simulator kills the process here. */
  readonly reached?: (point: WorkflowCrashPoint) => void
}

export type WorkflowLoad = { readonly claimed: number; readonly failing: boolean }

/** One call to the store at a time, repeated while there is more to do. */
type Asking = { op: number; again: boolean }

/**
 * The workflow engine of one process: events in, effects out, no I/O and no clock. It claims due instances, runs them
 * to their stops, and settles many of them in one commit. The rows contain the whole state, so a process can die at any
 * moment: the leases of its claims expire, and the rows are still as their last commit left them.
 */
export class WorkflowMachine {
  readonly #limits: WorkflowLimits
  readonly #reached: (point: WorkflowCrashPoint) => void
  readonly #claim: Asking = { op: 0, again: false }
  readonly #match: Asking = { op: 0, again: false }
  readonly #move: Asking = { op: 0, again: false }
  readonly #advancing = new Map<number, readonly Instance[]>()
  readonly #settling = new Map<number, readonly InstanceRun[]>()
  readonly #releasing = new Set<number>()
  #ready: InstanceRun[] = []
  /** Runs whose batch was refused. Each is settled alone, so that one of them cannot stop the others. */
  #alone: InstanceRun[] = []
  #effects: Effect[] = []
  #op = 0
  #restUntil = -Infinity
  #failing = false
  #stopping = false
  /** Some instance waits for a record, as far as this process knows. It asks every second anyway. */
  #waits = false
  /** The last claim left instances behind. The next one shares its limit among the workspaces. */
  #crowded = false

  constructor({ limits, reached }: WorkflowMachineOptions) {
    this.#limits = limits
    this.#reached = reached ?? (() => undefined)
  }

  get load(): WorkflowLoad {
    return { claimed: this.#claimed(), failing: this.#failing }
  }

  /** Nothing is under way, and nothing is left to ask. */
  get rested(): boolean {
    const asked = this.#claim.op + this.#match.op + this.#move.op
    return asked + this.#claimed() + this.#releasing.size === 0
  }

  handle(event: Event, now: number): Effect[] {
    this.#take(event, now)
    this.#go(now)
    if (this.rested) this.#effects.push({ type: 'rested' })
    return this.#effects.splice(0)
  }

  // oxlint-disable-next-line complexity -- one case for each event
  #take(event: Event, now: number): void {
    switch (event.type) {
      case 'woke':
        this.#failing = false
        for (const asking of [this.#claim, this.#match, this.#move]) asking.again = true
        return
      case 'hinted':
        if (event.about === 'instances') this.#claim.again = true
        else if (event.about === 'workspaces') this.#move.again = true
        else if (this.#waits) this.#match.again = true
        return
      case 'claimed':
        return this.#tookInstances(event, now)
      case 'advanced':
        if (!this.#advancing.delete(event.op)) return
        this.#ready.push(...event.runs)
        this.#reached('advanced')
        return
      case 'settled':
        return this.#settled(event, now)
      case 'released':
        if (this.#releasing.delete(event.op)) this.#claim.again = true
        return
      case 'matched':
        return this.#tookWakes(event, now)
      case 'moved':
        return this.#tookMoves(event, now)
      case 'stop':
        this.#reached('stopping')
        this.#stopping = true
    }
  }

  #tookInstances({ op, answer }: { op: number; answer: Answer<Claimed> }, now: number): void {
    if (op !== this.#claim.op) return
    this.#claim.op = 0
    // A claim without an answer may have been committed. Its lease expires.
    if (answer.outcome !== 'done') return this.#rest(now)
    const { instances, more } = answer.value
    this.#crowded = more
    if (more) this.#claim.again = true
    if (instances.length === 0) return
    this.#reached('claimed')
    if (this.#stopping) return this.#release(instances)
    const next = this.#next()
    this.#advancing.set(next, instances)
    this.#effects.push({ type: 'advance', op: next, instances })
  }

  #settled({ op, answer }: { op: number; answer: Answer<Settled> }, now: number): void {
    const runs = this.#settling.get(op)
    if (runs === undefined) return
    this.#settling.delete(op)
    if (answer.outcome === 'done') {
      this.#reached('settled')
      if (answer.value.more.length > 0) this.#reached('between_events')
      this.#ready.push(...answer.value.more)
      // A record that comes from now on may end a wait that started here, and so may one that came before the wait.
      if (runs.some(beginsWait)) {
        this.#waits = true
        this.#match.again = true
      }
      return
    }
    const [only, ...others] = runs
    if (answer.outcome === 'invalid' && only !== undefined && others.length === 0 && !only.isFailing) {
      this.#alone.push(only.failing('not_stored'))
      return
    }
    this.#rest(now)
    if (answer.outcome !== 'unknown' && others.length > 0) {
      this.#alone.push(...runs)
      return
    }
    // The rows have the outcome. Giving a claim back changes nothing if its commit arrives after all.
    if (answer.outcome === 'unknown') this.#release(runs.map((run) => run.instance))
    // A single run that the database refuses comes again when its lease has expired.
  }

  #tookWakes({ op, answer }: { op: number; answer: Answer<Matched> }, now: number): void {
    if (op !== this.#match.op) return
    this.#match.op = 0
    if (answer.outcome !== 'done') {
      this.#match.again = true
      return this.#rest(now)
    }
    this.#waits = answer.value.waits
    if (answer.value.woken > 0) {
      this.#reached('matched')
      this.#claim.again = true
    }
    if (answer.value.more) this.#match.again = true
  }

  #tookMoves({ op, answer }: { op: number; answer: Answer<Moved> }, now: number): void {
    if (op !== this.#move.op) return
    this.#move.op = 0
    if (answer.outcome !== 'done') {
      this.#move.again = true
      return this.#rest(now)
    }
    if (!answer.value.more) return
    this.#reached('moved')
    this.#move.again = true
    this.#claim.again = true
  }

  #go(now: number): void {
    if (this.#stopping) this.#giveBack()
    if (now < this.#restUntil) return
    this.#settle()
    if (this.#stopping) return
    const room = this.#claimed() + this.#limits.claimMax <= this.#limits.claimedMax
    if (this.#claim.again && this.#claim.op === 0 && room) {
      this.#ask(this.#claim, (op) => ({
        type: 'claim',
        op,
        input: { limit: this.#limits.claimMax, lease_ms: this.#limits.leaseMs, shared: this.#crowded },
      }))
    }
    if (this.#match.again && this.#match.op === 0) this.#ask(this.#match, (op) => ({ type: 'match', op }))
    if (this.#move.again && this.#move.op === 0) this.#ask(this.#move, (op) => ({ type: 'move', op }))
  }

  #ask(asking: Asking, effect: (op: number) => Effect): void {
    asking.again = false
    asking.op = this.#next()
    this.#effects.push(effect(asking.op))
  }

  /** A commit costs almost the same for one run as for many, so runs wait while two commits are under way. */
  #settle(): void {
    while (this.#settling.size < this.#limits.settlesInFlightMax && this.#ready.length + this.#alone.length > 0) {
      const alone = this.#alone.shift()
      const runs = alone === undefined ? this.#ready.splice(0, this.#limits.claimMax) : [alone]
      const op = this.#next()
      this.#settling.set(op, runs)
      this.#effects.push({ type: 'settle', op, runs })
    }
  }

  /** A process that stops settles nothing new. The other runs are due again in another process. */
  #giveBack(): void {
    const held = [...this.#ready.splice(0), ...this.#alone.splice(0)].map((run) => run.instance)
    if (held.length > 0) this.#release(held)
  }

  #release(held: readonly Held[]): void {
    const op = this.#next()
    this.#releasing.add(op)
    this.#effects.push({
      type: 'release',
      op,
      held: held.map(({ workspace_id, project_id, id, fence }) => ({ workspace_id, project_id, id, fence })),
    })
  }

  #rest(now: number): void {
    this.#failing = true
    this.#restUntil = now + this.#limits.restMs
  }

  #claimed(): number {
    let claimed = this.#ready.length + this.#alone.length
    for (const instances of this.#advancing.values()) claimed += instances.length
    for (const runs of this.#settling.values()) claimed += runs.length
    return claimed
  }

  #next(): number {
    this.#op += 1
    return this.#op
  }
}

/** A run that emits first may start a wait in the same commit. */
const beginsWait = ({ stop }: InstanceRun): boolean =>
  stop.kind === 'emitting' || (stop.kind === 'parked' && stop.wait?.kind === 'event')
