import { compileConditions } from '../../src/domain/routing/condition.ts'
import { compilePath, readPath } from '../../src/domain/routing/dot-path.ts'
import type { InstanceRun } from '../../src/pipeline/workflow/instance-run.ts'
import type { Held, Instance, Stop } from '../../src/pipeline/workflow/instance.ts'
import type { Claimed, ClaimInput, Matched, Moved, Settled } from '../../src/pipeline/workflow/ports.ts'
import { waitKey } from '../../src/pipeline/workflow/wait-key.ts'
import type { WorkflowPlant } from './plants.ts'
import {
  heldOf,
  memoryOf,
  type InstanceRow,
  type Pause,
  type SimAiRun,
  type SimDelivery,
  type SimRecord,
  type Version,
} from './rows.ts'

/** A change that the rules look at. */
export type Change =
  | { readonly type: 'started' | 'cancelled'; readonly row: InstanceRow }
  | { readonly type: 'claimed'; readonly row: InstanceRow }
  | {
      readonly type: 'settled'
      readonly row: InstanceRow
      readonly run: InstanceRun
      readonly before: InstanceRow['state']
    }
  | { readonly type: 'stored'; readonly record: SimRecord }
  | { readonly type: 'halted' | 'reinstated'; readonly workspace: string }

export interface SimStoreOptions {
  readonly plant: WorkflowPlant | undefined
  readonly watch: (change: Change, now: number) => void
  readonly uuid: () => string
  /** The road refuses an event now and then. */
  readonly refuses: () => boolean
}

type NewRecord = Omit<SimRecord, 'id' | 'committedAt'> & { readonly id?: string }
type Looked = { readonly to: number; readonly at: number; readonly waits: readonly InstanceRow[] }

const HOPS_MAX = 5
/** Small, so that suspensions take many commits. */
const MOVED_AT_ONCE = 2
const LATE_MS = 5_000
/** Small, so that a look back takes many commits. */
const PAGE = 1

/** A model of the database: each method is one transaction. `docs/adr/0162` has the rules of the statements. */
export class SimWorkflowStore {
  readonly instances = new Map<string, InstanceRow>()
  readonly versions = new Map<string, Version>()
  readonly active = new Map<string, Version>()
  /** In the order of their commits: a snapshot is a number of records. */
  readonly log: SimRecord[] = []
  readonly deliveries = new Map<string, SimDelivery>()
  readonly aiRuns = new Map<string, SimAiRun>()
  readonly pauses = new Map<string, Pause>()
  readonly halted = new Set<string>()
  matcher = { position: 0, movedAt: 0, isLocked: false }
  readonly #options: SimStoreOptions

  constructor(options: SimStoreOptions) {
    this.#options = options
  }

  /** The commit of a record, with the instances that it starts. A slow commit has an earlier id. */
  store(now: number, { id = this.#options.uuid(), ...record }: NewRecord): SimRecord {
    const stored = { ...record, id, committedAt: now }
    this.log.push(stored)
    this.#options.watch({ type: 'stored', record: stored }, now)
    for (const version of this.active.values()) {
      if (version.dataset !== record.dataset || record.hops > HOPS_MAX) continue
      const row: InstanceRow = {
        workspace: record.workspace,
        id: this.#options.uuid(),
        workflow: version.workflow,
        version: version.version,
        record: stored,
        state: 'pending',
        cursor: 0,
        attempt: 0,
        memory: null,
        fence: 0,
        due_at: now,
        lease_until: null,
        wait: null,
        matched: null,
        startedAt: this.log.length,
        waitSince: 0,
        lookFrom: null,
        paused_at: null,
        error: null,
        updated_at: now,
        steps: new Map(),
      }
      this.instances.set(row.id, row)
      this.#options.watch({ type: 'started', row }, now)
    }
    return stored
  }

  claim(now: number, { limit, lease_ms, shared }: ClaimInput): Claimed {
    const due = [...this.instances.values()].filter((row) => this.#isDue(row, now))
    const oldest = due.toSorted((a, b) => (a.due_at ?? 0) - (b.due_at ?? 0))
    const groups = shared ? [...Map.groupBy(oldest, (row) => row.workspace).values()] : [oldest]
    const share = Math.ceil(limit / Math.max(groups.length, 1))
    const chosen = groups.flatMap((rows) => rows.slice(0, share))
    const instances = chosen.map((row) => {
      row.state = 'running'
      row.fence += 1
      row.lease_until = now + lease_ms
      this.#options.watch({ type: 'claimed', row }, now)
      return this.#instanceOf(row)
    })
    return { instances, more: groups.some((rows) => rows.length >= share) }
  }

  #isDue(row: InstanceRow, now: number): boolean {
    const orphaned = row.state === 'running' && this.#options.plant === 'orphaned-pending'
    return (
      row.due_at !== null &&
      row.due_at <= now &&
      row.paused_at === null &&
      !orphaned &&
      (row.lease_until === null || row.lease_until <= now) &&
      !this.pauses.has(row.workspace) &&
      (!isWaiting(row) || (row.lookFrom === null && row.due_at <= this.matcher.movedAt))
    )
  }

  #instanceOf(row: InstanceRow): Instance {
    const version = this.versions.get(`${row.workflow} ${row.version}`)
    return {
      ...heldOf(row),
      workflow: { id: row.workflow, version: row.version },
      program: version?.program,
      record: { id: row.record.id, dataset: row.record.dataset, hops: row.record.hops, root: row.record.id },
      record_stored: true,
      cursor: row.cursor,
      attempt: row.attempt,
      memory: memoryOf(row),
      awaited: this.#awaitedOf(row),
    }
  }

  #awaitedOf({ wait, matched }: InstanceRow): Instance['awaited'] {
    if (wait === null) return undefined
    switch (wait.kind) {
      case 'event': {
        if (matched === null) return undefined
        const { id, committedAt, payload } = matched
        return { kind: 'event', record_id: id, received_at: new Date(committedAt).toISOString(), payload }
      }
      case 'delivery':
        return {
          kind: 'delivery',
          id: wait.id,
          state: this.deliveries.get(wait.id)?.state,
          last_status: 200,
          response_body: null,
        }
      case 'ai_run':
        return {
          kind: 'ai_run',
          id: wait.id,
          state: this.aiRuns.get(wait.id)?.state,
          output: { text: 'x' },
          error: null,
        }
    }
  }

  settle(now: number, runs: readonly InstanceRun[]): Settled {
    const more: InstanceRun[] = []
    const lost: string[] = []
    for (const run of runs) {
      const row = this.instances.get(run.instance.id)
      if (row === undefined) continue
      const current = row.fence === run.instance.fence && row.state === 'running'
      const unfenced = this.#options.plant === 'no-fence' && row.due_at !== null
      if (this.#options.plant === 'double-emit') this.#emitFirst(now, run)
      if (!current && !unfenced) {
        lost.push(row.id)
        continue
      }
      const ended = this.#conclude(now, run)
      this.#write(now, { row, run: ended })
      if (ended.emission !== undefined) more.push(ended.continued())
    }
    return { more, lost }
  }

  /** The fault: the event is committed before the cursor, so a lost claim leaves it behind. */
  #emitFirst(now: number, run: InstanceRun): void {
    const { emission } = run
    const row = this.instances.get(run.instance.id)
    if (emission !== undefined && row !== undefined && row.fence !== run.instance.fence) this.#storeEmission(now, run)
  }

  #conclude(now: number, run: InstanceRun): InstanceRun {
    if (run.emission === undefined) return run
    if (this.#options.refuses()) return run.emitted({ ok: false, reason: 'overloaded', message: 'refused' })
    return run.emitted({ ok: true, record_id: this.#storeEmission(now, run).id })
  }

  #storeEmission(now: number, { emission, instance }: InstanceRun): SimRecord {
    return this.store(now, {
      workspace: instance.workspace_id,
      dataset: emission?.dataset ?? '',
      payload: JSON.parse(emission?.text ?? 'null'),
      hops: instance.record.hops + 1,
      by: { instance: instance.id, step: emission?.step_id ?? '' },
    })
  }

  #write(now: number, { row, run }: { row: InstanceRow; run: InstanceRun }): void {
    const { stop } = run
    const before = row.state
    row.cursor = run.cursor
    row.attempt = run.attempt
    row.memory = run.memoryText
    row.updated_at = now
    row.matched = null
    row.wait = stop.kind === 'parked' ? stop.wait : null
    row.lookFrom = row.wait?.kind === 'event' && row.wait.looksBack ? '' : null
    row.waitSince = row.lookFrom === null ? this.log.length : row.startedAt
    Object.assign(row, placeOf(stop, now))
    for (const step of run.stepRuns)
      row.steps.set(step.seq, { ...step, input: row.steps.get(step.seq)?.input ?? step.input })
    for (const delivery of run.deliveries)
      this.deliveries.set(delivery.id, { ...delivery, instance: row.id, state: 'pending' })
    for (const aiRun of run.aiRuns) this.aiRuns.set(aiRun.id, { ...aiRun, instance: row.id, state: 'queued' })
    this.#options.watch({ type: 'settled', row, run, before }, now)
  }

  release(held: readonly Held[]): void {
    for (const { id, fence } of held) {
      const row = this.instances.get(id)
      if (row?.fence === fence && row.state === 'running') row.lease_until = null
    }
  }

  /**
   * The first half of a match: the lock of its position, and the snapshot, before the waits are read. undefined: another
   * process has the lock.
   */
  look(now: number): Looked | undefined {
    // The fault: two processes match at once, and the one with the older snapshot ends a look back.
    if (this.matcher.isLocked && this.#options.plant !== 'no-matcher-lock') return undefined
    this.matcher.isLocked = true
    return { to: this.log.length, at: now, waits: this.#waiting() }
  }

  /** The second half: the waits in their present state. */
  match(now: number, looked: Looked): Matched {
    const lost = this.#options.plant === 'lost-wake'
    // The fault: the waits are older than the snapshot, so a wait that started in between misses a record of that time.
    const to = lost ? this.log.length : looked.to
    const waits = lost ? looked.waits.filter((row) => isWaiting(row)) : this.#waiting()
    let woken = 0
    for (const row of waits) {
      const found = this.#lookBack(row, to) ?? this.#earliest(this.#compared(row, to), row)
      if (found === undefined) continue
      row.matched = found
      row.state = 'waiting'
      row.due_at = now
      row.lease_until = null
      row.lookFrom = null
      row.fence += 1
      row.updated_at = now
      woken += 1
    }
    const { position, movedAt } = this.matcher
    this.matcher = {
      position: Math.max(to, position),
      movedAt: lost ? now : Math.max(looked.at, movedAt),
      isLocked: false,
    }
    return { woken, more: waits.some((row) => row.lookFrom !== null), waits: waits.length > 0 }
  }

  /** One page of the records that were stored after the start of the instance, in the order of their ids. */
  #lookBack(row: InstanceRow, to: number): SimRecord | undefined {
    const { lookFrom } = row
    if (lookFrom === null) return undefined
    const left = this.log.slice(row.waitSince, to).filter(({ id }) => id > lookFrom)
    const page = left.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, PAGE)
    // The fault: a wait is not compared with the records that came between the start of its instance and the wait.
    const isSkipped = this.#options.plant === 'no-look-back'
    row.lookFrom = isSkipped || page.length === left.length ? null : (page.at(-1)?.id ?? null)
    return isSkipped ? undefined : this.#earliest(page, row)
  }

  /** The new records for a wait. One that looks back finds those with later ids there. */
  #compared(row: InstanceRow, to: number): readonly SimRecord[] {
    const { lookFrom } = row
    const fresh = this.log.slice(Math.max(this.matcher.position, row.waitSince), to)
    if (lookFrom === null) return fresh
    // The fault: a record whose commit was slow is behind the pages that are compared.
    return this.#options.plant === 'late-record' ? [] : fresh.filter(({ id }) => id <= lookFrom)
  }

  #earliest(records: readonly SimRecord[], row: InstanceRow): SimRecord | undefined {
    return records.find((record) => matches(row, record))
  }

  #waiting(): InstanceRow[] {
    return [...this.instances.values()].filter((row) => isWaiting(row))
  }

  halt(now: number, workspace: string): void {
    const pause = this.pauses.get(workspace)
    this.halted.add(workspace)
    this.#options.watch({ type: 'halted', workspace }, now)
    if (pause === undefined) this.pauses.set(workspace, { phase: 'pausing', halted_at: now, resumed_at: null })
    else {
      if (pause.phase === 'resuming') Object.assign(pause, { phase: 'pausing', halted_at: now })
      pause.resumed_at = null
    }
  }

  reinstate(now: number, workspace: string): void {
    const pause = this.pauses.get(workspace)
    this.halted.delete(workspace)
    this.#options.watch({ type: 'reinstated', workspace }, now)
    if (pause !== undefined && pause.resumed_at === null) pause.resumed_at = now
  }

  move(now: number): Moved {
    let more = false
    for (const [workspace, pause] of this.pauses) more = this.#moveOne(now, { workspace, pause }) || more
    return { more }
  }

  // oxlint-disable-next-line complexity -- one case for each phase
  #moveOne(now: number, { workspace, pause }: { workspace: string; pause: Pause }): boolean {
    const own = [...this.instances.values()].filter((row) => row.workspace === workspace && row.due_at !== null)
    switch (pause.phase) {
      case 'pausing': {
        const some = own.filter((row) => row.paused_at === null).slice(0, MOVED_AT_ONCE)
        for (const row of some) {
          row.paused_at = Math.max(pause.halted_at, row.updated_at)
          row.fence += 1
          row.lease_until = null
        }
        if (some.length > 0) return true
        if (pause.resumed_at === null && now < pause.halted_at + LATE_MS) return false
        pause.phase = 'paused'
        return pause.resumed_at !== null
      }
      case 'paused':
        if (pause.resumed_at === null) return false
        pause.phase = 'resuming'
        return true
      case 'resuming': {
        const some = own.filter((row) => row.paused_at !== null).slice(0, MOVED_AT_ONCE)
        for (const row of some) {
          const shiftMs = Math.max(0, (pause.resumed_at ?? now) - (row.paused_at ?? now))
          if (this.#options.plant !== 'timeout-in-pause') row.due_at = (row.due_at ?? now) + shiftMs
          row.paused_at = null
        }
        if (some.length === 0) this.pauses.delete(workspace)
        return true
      }
    }
  }

  /** The workflow is deleted, and its instances end. */
  remove(now: number, workflow: string): void {
    this.active.delete(workflow)
    for (const row of this.instances.values()) {
      if (row.workflow !== workflow || row.due_at === null) continue
      Object.assign(row, {
        state: 'cancelled',
        due_at: null,
        lease_until: null,
        paused_at: null,
        wait: null,
        fence: row.fence + 1,
      })
      this.#options.watch({ type: 'cancelled', row }, now)
    }
  }

  /** The AI engine's last commit wakes the instance. */
  endRun(now: number, { id, state }: { id: string; state: 'succeeded' | 'failed' }): void {
    const run = this.aiRuns.get(id)
    if (run === undefined) return
    run.state = state
    const row = this.instances.get(run.instance)
    if (row?.wait?.kind === 'ai_run' && row.wait.id === id && row.due_at !== null)
      row.due_at = Math.min(row.due_at, now)
  }
}

const isWaiting = (row: InstanceRow): boolean =>
  row.wait?.kind === 'event' && row.matched === null && row.due_at !== null

/** Whether a record ends a wait, in every condition. */
export function matches(row: Pick<InstanceRow, 'wait' | 'workspace'>, record: SimRecord): boolean {
  const { wait } = row
  if (wait?.kind !== 'event' || record.workspace !== row.workspace || record.dataset !== wait.dataset) return false
  if (wait.past.includes(record.id)) return false
  const key = waitKey(wait.path, readPath(record.payload, compilePath(wait.path)))
  if (key === undefined || !key.equals(wait.key)) return false
  return (
    compileConditions(wait.conditions, 'strict').firstFailure({ payload: record.payload, request: null }) === undefined
  )
}

function placeOf(stop: Stop, now: number): Pick<InstanceRow, 'state' | 'due_at' | 'lease_until' | 'error'> {
  switch (stop.kind) {
    case 'emitting':
      return { state: 'running', due_at: 0, lease_until: now + 60_000, error: null }
    case 'ended':
      return { state: stop.state, due_at: null, lease_until: null, error: stop.error }
    case 'parked':
      return { state: stop.state, due_at: stop.due_at, lease_until: null, error: null }
  }
}
