import { Violation } from '../violation.ts'
import { matches, type Change, type SimWorkflowStore } from './store.ts'
import type { InstanceRow, SimRecord } from './rows.ts'
import type { Wait } from '../../src/pipeline/workflow/instance.ts'

/** A delay, or a wait for an event, that an instance started. */
interface Parked {
  readonly committedAt: number
  readonly dueAt: number
  readonly wait: Wait | null
  /** Records from this place of the log on can end the wait. */
  readonly since: number
}

/** The promises of the engine, checked at every change and at the end. */
export class WorkflowRules {
  readonly #store: () => SimWorkflowStore
  readonly #parked = new Map<string, Parked>()
  readonly #emitted = new Map<string, number>()
  readonly #halts = new Map<string, { from: number; to: number }[]>()

  constructor(store: () => SimWorkflowStore) {
    this.#store = store
  }

  readonly watch = (change: Change, now: number): void => {
    switch (change.type) {
      case 'started':
      case 'cancelled':
        return
      case 'halted':
        this.#haltsOf(change.workspace).push({ from: now, to: Infinity })
        return
      case 'reinstated':
        for (const halt of this.#haltsOf(change.workspace)) halt.to = Math.min(halt.to, now)
        return
      case 'claimed':
        must(
          !this.#store().halted.has(change.row.workspace),
          () => `${change.row.id} was claimed although its workspace is halted`,
        )
        return
      case 'stored':
        return this.#stored(change.record)
      case 'settled':
        return this.#settled(change, now)
    }
  }

  /** Everything has ended, and every effect happened exactly as often as its step. */
  atRest(): void {
    for (const row of this.#store().instances.values()) {
      must(row.due_at === null, () => `${row.id} never ended: it is ${row.state}`)
      this.#effectsOf(row)
    }
    for (const [step, times] of this.#emitted) must(times === 1, () => `${step} stored ${times} events`)
  }

  #effectsOf(row: InstanceRow): void {
    const rows = [...row.steps.values()]
    for (const step of rows) {
      const done = step.type === 'emit_event' && step.state === 'succeeded'
      if (done)
        must(
          this.#emitted.get(`${row.id} ${step.step_id}`) === 1,
          () => `${row.id} ${step.step_id} succeeded and stored no event`,
        )
      must(
        row.state === 'cancelled' || step.state !== 'waiting',
        () => `${row.id} ended, and ${step.step_id} still waits`,
      )
    }
    const ran = (type: string): number => rows.filter((step) => step.type === type && step.input !== null).length
    const runs = [...this.#store().aiRuns.values()].filter(({ instance }) => instance === row.id).length
    must(runs === ran('run_agent'), () => `${row.id} has ${runs} AI runs for ${ran('run_agent')} tries`)
    const deliveries = [...this.#store().deliveries.values()].filter(({ instance }) => instance === row.id).length
    must(deliveries === ran('deliver'), () => `${row.id} has ${deliveries} deliveries for ${ran('deliver')} tries`)
  }

  #stored({ by, hops }: SimRecord): void {
    if (by === null) return
    const key = `${by.instance} ${by.step}`
    const times = (this.#emitted.get(key) ?? 0) + 1
    this.#emitted.set(key, times)
    must(times === 1, () => `${key} stored its event ${times} times`)
    const row = this.#store().instances.get(by.instance)
    must(row !== undefined && row.due_at !== null, () => `${key} stored an event after its instance had ended`)
    must(hops <= 6, () => `${key} stored an event with ${hops} hops`)
  }

  #settled({ row, run, before }: Extract<Change, { type: 'settled' }>, now: number): void {
    const { id } = row
    must(run.instance.fence === row.fence, () => `${id} was changed under fence ${run.instance.fence} at ${row.fence}`)
    must(before === 'running', () => `${id} was settled while ${before}`)
    const parked = this.#parked.get(id)
    if (parked !== undefined) this.#woke({ row, run, parked }, now)
    this.#parked.delete(id)
    const { stop } = run
    if (
      stop.kind !== 'parked' ||
      stop.state === 'retrying' ||
      (stop.state === 'waiting' && stop.wait?.kind !== 'event')
    )
      return
    const looksBack = stop.wait?.kind === 'event' && stop.wait.looksBack
    const since = looksBack ? row.startedAt : this.#store().log.length
    this.#parked.set(id, { committedAt: now, dueAt: stop.due_at, wait: stop.wait, since })
  }

  /** A delay ended, or a wait ended with its record or by its timeout. */
  #woke(
    { row, run, parked }: { row: InstanceRow; run: Extract<Change, { type: 'settled' }>['run']; parked: Parked },
    now: number,
  ): void {
    const [ended] = run.stepRuns
    const foundIt = run.instance.awaited?.kind === 'event'
    if (ended === undefined || foundIt) return
    const dueAt = parked.dueAt + this.#haltedMs(row.workspace, { from: parked.committedAt, to: now })
    must(now >= dueAt - 1, () => `${row.id} ${ended.step_id} ended ${Math.round(dueAt - now)} ms before its time`)
    if (parked.wait === null) return
    const inTime = this.#store()
      .log.slice(parked.since)
      .find((record) => record.committedAt < dueAt && matches({ workspace: row.workspace, wait: parked.wait }, record))
    must(inTime === undefined, () => `${row.id} ${ended.step_id} timed out although ${inTime?.id} came in time`)
  }

  #haltedMs(workspace: string, { from, to }: { from: number; to: number }): number {
    let ms = 0
    for (const halt of this.#haltsOf(workspace)) ms += Math.max(0, Math.min(halt.to, to) - Math.max(halt.from, from))
    return ms
  }

  #haltsOf(workspace: string): { from: number; to: number }[] {
    const known = this.#halts.get(workspace) ?? []
    this.#halts.set(workspace, known)
    return known
  }
}

function must(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new Violation(message())
}
