import assert from 'node:assert/strict'
import { DEFAULT_SCHEDULE_SECONDS } from '@postroad/contract'
import { LEFTOVER, readyAt, workAt, type LaneRow } from '../../sim/rows.ts'
import { probeLane } from '../../sim/probe.ts'
import { SimStore } from '../../sim/store.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import type { LaneMemory } from '../../src/domain/delivery/lane-memory.ts'
import type {
  Begin,
  Held,
  LeaseInput,
  Leased,
  Note,
  ReadAnswer,
  ReadInput,
  RenewInput,
  Settle,
  StorePort,
  TurnInput,
} from '../../src/pipeline/deliver/ports.ts'
import { createPostgresStore } from '../../src/pipeline/deliver/postgres-store.ts'
import { sql } from '../../src/platform/db.ts'
import { deliveries } from '../../src/resources/delivery/deliveries/index.ts'
import { destinations } from '../../src/resources/delivery/destinations/index.ts'
import { cancelOutstanding, pauseOutstanding, resumePaused } from '../../src/resources/delivery/deliveries/queries.ts'
import { lockWaiting, release } from '../../src/resources/delivery/deliveries/release/queries.ts'
import { makeDue } from '../../src/resources/delivery/replays/queries.ts'
import {
  delivered,
  failed,
  failedProbe,
  gone,
  hopeless,
  interrupted,
  retryIn,
  settleOf,
  valueOf,
  type LaneAt,
  type StoreRows,
} from './store-rows.ts'

const OWNERS = ['a', 'b', 'c'] as const
const LEASE_MS = 10_000

/** Drives the model and PostgreSQL through the same operations and compares every answer and every row. */
export class Twin {
  readonly model = new SimStore()
  readonly store: StorePort
  readonly #rows: StoreRows
  readonly #lanes: readonly LaneAt[]
  readonly #serials = new Map<string, number>()
  /** Attempt ids differ: `<delivery>#<number>` in the model. */
  readonly #sqlAttempt = new Map<string, string>()
  /** What has happened, by name. */
  readonly seen = new Set<string>()

  constructor(rows: StoreRows, lanes: readonly LaneAt[]) {
    this.#rows = rows
    this.#lanes = lanes
    this.store = createPostgresStore(rows.deps)
    for (const { lane, workspaceId } of lanes) {
      const settings = {
        max_in_flight: 10,
        schedule_seconds: DEFAULT_SCHEDULE_SECONDS,
        timeout_ms: 15_000,
        rate_limit: null,
        breaker_resets: 0,
        probes_asked: 0,
        ordered: isOrdered(lane, lanes),
      }
      this.model.addLane({ lane, workspace: workspaceId, settings })
    }
  }

  get #now(): number {
    return this.#rows.clock.now()
  }

  async do(step: Step): Promise<void> {
    const at = this.#lanes[step.lane % this.#lanes.length]
    assert.ok(at)
    this.seen.add(step.kind)
    await this.#steps[step.kind](step, at)
    await this.#compareRows()
  }

  readonly #steps: Readonly<Record<Step['kind'], (step: Step, at: LaneAt) => Promise<void> | void>> = {
    ingest: (step, at) => this.#ingest(at, 1 + (step.n % 3)),
    'ingest beyond': (step, at) => this.#ingestBeyond(at, 1 + (step.n % 3)),
    'let go': (step, at) => this.#letGo(at, 1 + (step.m % 4)),
    lease: (step) => this.#lease(step),
    renew: (step) => this.#renew({ owner: ownerOf(step), lease_ms: LEASE_MS, held: step.n % 5 }),
    release: (step) => this.#release(step),
    read: (step) => this.#read(step),
    turn: (step) =>
      this.#turn({ settles: this.#settlesOf(step), begins: this.#beginsOf(step), notes: this.#notesOf(step) }),
    switch: (_step, at) => this.#switch(at),
    suspend: (step, at) => this.#suspend(step, at),
    replay: (step) => this.#byHand(step, 'replay'),
    'replay many': (step, at) => this.#replayMany(step, at),
    retry: (step) => this.#byHand(step, 'retry'),
    probe: (_step, at) => this.#probe(at),
    'cancel one': (step) => this.#byHand(step, 'cancel'),
    cancel: (_step, at) => this.#cancel(at),
    advance: (step) => this.#rows.clock.advance([1, 700, 5_000, 30_000][step.n % 4] ?? 1),
  }

  async #renew(input: RenewInput): Promise<void> {
    assert.deepEqual(valueOf(await this.store.renew(input)), this.model.renew(this.#now, input))
  }

  async #switch(at: LaneAt): Promise<void> {
    const enabled = !this.model.lane(at.lane).enabled
    await this.#rows.switchLane(at, enabled)
    if (enabled) this.model.enable(this.#now, at.lane)
    else this.model.disable(this.#now, at.lane)
  }

  async #ingest(at: LaneAt, count: number): Promise<void> {
    // Ingest answers 403 while the workspace is suspended.
    if (this.model.suspended.has(at.workspaceId)) return
    const orderKeys = this.#orderKeys(at, count)
    const { enabled } = this.model.lane(at.lane)
    const items = await this.#rows.ingest(at, {
      count,
      pauseReason: enabled ? null : 'destination_disabled',
      orderKeys,
    })
    this.model.ingest(
      this.#now,
      items.map((item, index) => ({ ...item, order_key: orderKeys[index] ?? null })),
    )
  }

  /** The allowance of the workspace has no room for these. */
  async #ingestBeyond(at: LaneAt, count: number): Promise<void> {
    if (this.model.suspended.has(at.workspaceId)) return
    this.model.allow(this.#now, at.workspaceId, { max: 0, turned: true })
    const orderKeys = this.#orderKeys(at, count)
    const items = await this.#rows.ingest(at, { count, pauseReason: 'allowance_used', orderKeys })
    this.model.ingest(
      this.#now,
      items.map((item, index) => ({ ...item, order_key: orderKeys[index] ?? null })),
    )
    this.model.allow(this.#now, at.workspaceId, { max: null, turned: true })
  }

  /** So many may go. */
  async #letGo({ workspaceId }: LaneAt, count: number): Promise<void> {
    if (this.model.suspended.has(workspaceId)) return
    const waiting = await this.#rows.deps.database.transaction(async (db) => {
      const rows = await lockWaiting(db, { workspaceId, limit: count })
      if (rows.length > 0) await release(db, { workspaceId, rows, now: this.#rows.now })
      return rows
    })
    this.model.allow(this.#now, workspaceId, { max: count, turned: true })
    const released = this.model.letGo(this.#now, workspaceId)
    this.model.allow(this.#now, workspaceId, { max: null, turned: true })
    assert.equal(waiting.length, released.length)
  }

  #orderKeys({ lane }: LaneAt, count: number): readonly string[] {
    return this.model.lane(lane).settings.ordered ? ORDER_KEYS.slice(0, count) : []
  }

  async #lease(step: Step): Promise<void> {
    const owner = ownerOf(step)
    const serial = (this.#serials.get(owner) ?? 0) + (step.n % 7 === 0 ? 0 : 1)
    this.#serials.set(owner, serial)
    const input: LeaseInput = {
      owner,
      lease_ms: LEASE_MS,
      serial,
      doubtful_from: step.m % 5 === 0 ? Math.max(0, serial - 2) : null,
      wanted: step.n % 2 === 0 ? this.#some(step.m) : [],
      any_due: step.n % 3 !== 0,
      // A place also goes to a lane that is only cleared up, which the model does beside.
      lanes_max: step.n % 4 === 1 && !this.#mustClearUp() ? 1 : 100,
      share: { held: step.m % 6, avoid: step.n % 11 === 0 ? this.#some(step.n) : [], fairly: false },
    }
    const leased = valueOf(await this.store.lease(input))
    const bounded = input.any_due && input.lanes_max === 1 && leased.grants.length === 1
    const expected = bounded ? this.#leaseBounded(input, leased) : this.model.lease(this.#now, input)
    assert.deepEqual(sortedLease(leased), sortedLease(expected))
    if (expected.grants.some((grant) => grant.orphans_end_in_ms.length > 0)) this.seen.add('orphaned')
  }

  /** Which of several lanes a small call gets is open but for the order of their work; the model then follows. */
  #leaseBounded(input: LeaseInput, leased: Leased): Leased {
    const { model } = this
    const freed = (lane: LaneRow): boolean =>
      input.doubtful_from !== null && lane.owner === input.owner && lane.serial >= input.doubtful_from
    const free = [...model.lanes.values()].filter((lane) => this.#isFree(lane) || freed(lane))
    const ready = free.filter((lane) => model.pauseReason(lane) === null && readyAt(lane) <= this.#now)
    const [grant] = leased.grants
    assert.ok(grant)
    assert.equal(
      workAt(model.lane(grant.lane)),
      Math.min(...ready.map(workAt)),
      'of lanes that are ready the one with the oldest work is granted first',
    )
    const followed = model.lease(this.#now, { ...input, any_due: false, wanted: [grant.lane] })
    const elsewhere = input.wanted.filter((key) => {
      const lane = model.lane(key)
      return this.#isFree(lane) ? (lane.waits_until ?? this.#now) > this.#now : lane.owner !== input.owner
    })
    return { ...followed, elsewhere, more: ready.length > 1 }
  }

  #isFree({ owner }: LaneRow): boolean {
    return owner === null || (this.model.owners.get(owner)?.until ?? -Infinity) <= this.#now
  }

  #mustClearUp(): boolean {
    return [...this.model.lanes.values()].some(
      (lane) => lane.unswept || (this.model.pauseReason(lane) !== null && workAt(lane) === LEFTOVER),
    )
  }

  async #release(step: Step): Promise<void> {
    const owner = ownerOf(step)
    const held = [...this.model.lanes.values()]
      .filter((lane) => lane.owner === owner)
      .map(({ lane, fence }) => ({ lane, fence }))
    const ones = held.map((one) => (step.m % 3 === 0 ? { ...one, fence: one.fence - 1 } : one))
    const lanes =
      step.n % 6 === 0
        ? 'all'
        : ones.map((one, index) => ((step.n + index) % 2 === 0 ? one : { ...one, note: noteOf(step) }))
    if (lanes === 'all') this.#serials.delete(owner)
    assert.deepEqual(
      valueOf(await this.store.release({ owner, lanes })),
      this.model.release(this.#now, { owner, lanes }),
    )
  }

  async #read(step: Step): Promise<void> {
    const input: ReadInput = {
      reads: this.#some(step.n).map((lane) => {
        const row = this.model.lane(lane)
        const due = row.deliveries.filter((delivery) => (delivery.next_attempt_at ?? Infinity) <= this.#now)
        return {
          lane,
          fence: row.fence - (step.m % 6 === 0 ? 1 : 0),
          limit: 1 + (step.m % 4),
          exclude: due.filter((_, index) => index % 3 === step.m % 4).map((delivery) => delivery.delivery_id),
          ordered: row.settings.ordered,
          recent: step.m % 2 === 0,
        }
      }),
    }
    assert.deepEqual(known(valueOf(await this.store.read(input))), known(this.model.read(this.#now, input)))
  }

  /** Ends of open attempts, and of some that have ended already or under an older fence. */
  #settlesOf(step: Step): readonly Settle[] {
    const kinds = [delivered, retryIn(4_000), retryIn(60_000), failed, interrupted, gone, failedProbe, hopeless]
    const chosen = [...this.model.attempts.values()].filter(
      (attempt, index) => (step.n + index) % (attempt.outcome === null ? 2 : 9) === 0,
    )
    const stale = step.m % 11 === 0 ? 1 : 0
    return chosen.map((attempt, index) =>
      settleOf({ ...attempt, fence: attempt.fence - stale }, kinds[(step.m + index) % kinds.length] ?? delivered),
    )
  }

  /** Notes of some lanes, now and then under an older fence or with a serial that came too late. */
  #notesOf(step: Step): readonly Note[] {
    return this.#some(step.m % 8).map((lane) => ({
      lane,
      fence: this.model.lane(lane).fence - (step.n % 7 === 0 ? 1 : 0),
      ...noteOf(step),
    }))
  }

  /** Begins of any deliveries, due or not, but of none that the same turn settles: no machine does that. */
  #beginsOf(step: Step): readonly Begin[] {
    const settled = new Set(this.#settlesOf(step).map((settle) => settle.delivery_id))
    const chosen = [...this.model.deliveries.values()].filter(
      (row, index) => !settled.has(row.delivery_id) && (step.n + index) % 3 !== 0,
    )
    return chosen.slice(0, step.n % 8).map(({ lane, delivery_id }, index) => {
      const stale = step.m % 7 === 0 && index % 2 === 0 ? 1 : 0
      return {
        lane,
        fence: this.model.lane(lane).fence - stale,
        delivery_id,
        ordered: this.model.lane(lane).settings.ordered,
      }
    })
  }

  async #turn(input: TurnInput): Promise<void> {
    const sqlIds = input.settles.map((settle) => ({
      ...settle,
      attempt_id: this.#sqlAttempt.get(settle.attempt_id) ?? '',
    }))
    const turned = valueOf(await this.store.turn({ ...input, settles: sqlIds }))
    const expected = this.model.turn(this.#now, input)
    for (const begun of turned.begun)
      this.#sqlAttempt.set(`${begun.delivery_id}#${begun.attempt_number}`, begun.attempt_id)
    const asModel = turned.begun.map(({ payload: _payload, ...begun }) => ({
      ...begun,
      attempt_id: `${begun.delivery_id}#${begun.attempt_number}`,
    }))
    assert.deepEqual(asModel.toSorted(byId), expected.begun.toSorted(byId))
    assert.deepEqual(turned.applied.toSorted(), expected.applied.map((id) => this.#sqlAttempt.get(id) ?? '').toSorted())
    assert.deepEqual(sortedHeld(turned.paused), sortedHeld(expected.paused))
    assert.deepEqual(sortedHeld(turned.lost), sortedHeld(expected.lost))
    for (const settle of input.settles)
      if (expected.applied.includes(settle.attempt_id)) this.seen.add(`settled ${settle.next}`)
    if (expected.begun.length > 0) this.seen.add('begun')
    if (expected.lost.length > 0) this.seen.add('lost')
    if (expected.paused.length > 0) this.seen.add('paused')
  }

  /** Now and then the process that moves the deliveries dies on the way, and leaves the rest to the sweeps. */
  async #suspend(step: Step, { workspaceId, ...at }: LaneAt): Promise<void> {
    const lanes = this.#lanes.filter((lane) => lane.workspaceId === workspaceId)
    const suspended = !this.model.suspended.has(workspaceId)
    await this.#rows.setSuspended({ workspaceId, ...at }, suspended)
    if (suspended) this.model.suspend(this.#now, workspaceId)
    else this.model.reinstate(this.#now, workspaceId)
    const { now } = this.#rows
    for (const lane of lanes.slice(step.m % 3 === 0 ? 1 : 0)) {
      if (suspended) await pauseOutstanding(this.#rows.deps.database, { ...lane, reason: 'workspace_suspended', now })
      else await resumePaused(this.#rows.deps.database, { ...lane, now })
      this.model.moveWaiting(this.#now, lane.lane, { halted: suspended })
    }
  }

  /** What a person does to one delivery. */
  async #byHand(step: Step, act: 'replay' | 'retry' | 'cancel'): Promise<void> {
    const all = [...this.model.deliveries.values()]
    const row = all[step.n % Math.max(1, all.length)]
    if (row === undefined) return
    const at = this.#lanes.find((lane) => lane.lane === row.lane)
    assert.ok(at)
    const done = await deliveries[act](this.#rows.ctx(at), { id: row.delivery_id }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refusal && error.reason === 'invalid_state') return false
        throw error
      },
    )
    assert.equal(done, this.model[act](this.#now, row.delivery_id))
  }

  /** A person asks for a probe of an open breaker. */
  async #probe(at: LaneAt): Promise<void> {
    const done = await destinations.probe(this.#rows.ctx(at), { id: at.destinationId }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refusal && error.reason === 'invalid_state') return false
        throw error
      },
    )
    assert.equal(done, probeLane(this.model, this.#now, at.lane))
    if (done) this.seen.add('probed')
  }

  /** All of a lane that has ended, each a second after the one before. */
  async #replayMany(step: Step, at: LaneAt): Promise<void> {
    const ids = this.model.lane(at.lane).deliveries.map((row) => row.delivery_id)
    const momentOf = (index: number): number => (step.n % 2) * index * 1_000
    if (ids.length > 0) {
      const slots = ids.map((id, index) => ({ id, at: new Date(this.#now + momentOf(index)) }))
      await makeDue(this.#rows.deps.database, {
        ...at,
        slots,
        states: ['delivered', 'failed', 'cancelled'],
        now: this.#rows.now,
      })
    }
    for (const [index, id] of ids.entries()) this.model.replay(this.#now, id, { inMs: momentOf(index) })
  }

  async #cancel(at: LaneAt): Promise<void> {
    await cancelOutstanding(this.#rows.deps.database, { ...at, now: this.#rows.now })
    this.model.cancelAll(this.#now, at.lane)
  }

  #some(bits: number): string[] {
    return this.#lanes.filter((_, index) => ((bits >> index) & 1) === 1).map(({ lane }) => lane)
  }

  /** Every row of the store, in the words of the model. */
  async #compareRows(): Promise<void> {
    await this.#compareDeliveries()
    await this.#compareAttempts()
    await this.#compareLanes()
  }

  async #compareDeliveries(): Promise<void> {
    const rows = await this.#rows.deliveries()
    for (const { state } of rows) this.seen.add(`state ${state}`)
    assert.deepEqual(
      [...rows].map((row) => ({ ...row, next_attempt_at: row.next_attempt_at?.toISOString() ?? null })),
      [...this.model.deliveries.values()].map((row) => ({
        id: row.delivery_id,
        state: row.state,
        pause_reason: row.pause_reason,
        next_attempt_at: iso(row.next_attempt_at),
        attempt_count: row.attempt_count,
        failure_count: row.failure_count,
        next_trigger: row.next_trigger,
      })),
    )
  }

  async #compareAttempts(): Promise<void> {
    const attempts = await this.#rows.deps.database.many(sql`
      select delivery_id || '#' || number as id, outcome, trigger, fence, started_at from delivery_attempts order by id
    `)
    assert.deepEqual(
      [...attempts],
      [...this.model.attempts.values()]
        .map((row) => ({
          id: row.attempt_id,
          outcome: row.outcome,
          trigger: row.trigger,
          fence: row.fence,
          started_at: new Date(row.started_at),
        }))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    )
  }

  async #compareLanes(): Promise<void> {
    const lanes = await this.#rows.deps.database.many(sql`
      select workspace_id || '/' || destination_id as lane, owner, fence, case when owner is not null then serial end as serial,
             memory, note_serial, waits_until, breaker_resets, probes_asked, case when memory is not null then remembered_at end as remembered_at
        from lanes order by lane
    `)
    assert.deepEqual(
      [...lanes],
      [...this.model.lanes.values()]
        .map(({ lane, owner, fence, serial, memory, note_serial, waits_until, settings, remembered_at }) => ({
          lane,
          owner,
          fence,
          serial: owner === null ? null : serial,
          memory,
          note_serial,
          waits_until: waits_until === null ? null : new Date(waits_until),
          breaker_resets: settings.breaker_resets,
          probes_asked: settings.probes_asked,
          remembered_at: memory === null ? null : new Date(remembered_at),
        }))
        .toSorted((a, b) => (a.lane < b.lane ? -1 : 1)),
    )
    const orphans = await this.#rows.deps.database.many<{ lane: string; ends_by: Date }>(sql`
      select workspace_id || '/' || destination_id as lane, ends_by from orphaned_requests where ends_by > ${this.#rows.now} order by lane, ends_by
    `)
    const expected = [...this.model.lanes.values()].flatMap(({ lane, orphans: all }) =>
      all.map(({ ends_by }) => ({ lane, ends_by: new Date(ends_by) })),
    )
    assert.deepEqual([...orphans], expected.filter(({ ends_by }) => ends_by > this.#rows.now).toSorted(byLaneAndEnd))
    const owners = await this.#rows.deps.database.many(
      sql`select owner, lease_until, serial from lane_owners order by owner`,
    )
    assert.deepEqual(
      [...owners],
      [...this.model.owners]
        .map(([owner, row]) => ({ owner, lease_until: new Date(row.until), serial: row.serial }))
        .toSorted((a, b) => (a.owner < b.owner ? -1 : 1)),
    )
  }
}

export const KINDS = [
  'ingest',
  'ingest beyond',
  'let go',
  'lease',
  'renew',
  'release',
  'read',
  'turn',
  'switch',
  'suspend',
  'replay',
  'replay many',
  'retry',
  'probe',
  'cancel one',
  'cancel',
  'advance',
] as const
export type Step = {
  readonly kind: (typeof KINDS)[number]
  readonly lane: number
  readonly n: number
  readonly m: number
}

/** Of the lanes the last one keeps an order, and the second delivery of a commit has the key of the first. */
const isOrdered = (lane: string, lanes: readonly LaneAt[]): boolean => lanes.length > 2 && lanes.at(-1)?.lane === lane
const ORDER_KEYS = [
  '00000000-0000-4000-8000-00000000000a',
  '00000000-0000-4000-8000-00000000000a',
  'ffffffff-ffff-4fff-bfff-ffffffffffff',
] as const

const ownerOf = (step: Step): string => OWNERS[step.lane % OWNERS.length] ?? 'a'

function noteOf({ n, m }: Step): { readonly serial: number; readonly memory: LaneMemory | null } {
  const kinds = [
    null,
    breakerOpenFor(20_000),
    breakerOpenFor(-1),
    { breaker: null, rate: { sends: [{ age_ms: 40, count: 2 }], pending: m % 2 }, breaker_resets: 0 },
  ]
  return { serial: m, memory: kinds[n % kinds.length] ?? null }
}

export function breakerOpenFor(probe_in_ms: number): LaneMemory {
  const counts = [{ age_ms: 100, succeeded: 1, failed: 9 }]
  const breaker = {
    state: 'open',
    failures_in_row: 9,
    failing_ms: 700,
    opened_ms: 5,
    probe_in_ms,
    probe_wait_ms: 30_000,
    cap: 0,
    counts,
  } as const
  return { breaker, rate: null, breaker_resets: 0 }
}

const byLane = (a: { lane: string }, b: { lane: string }): number => (a.lane < b.lane ? -1 : 1)
const byId = (a: { delivery_id: string }, b: { delivery_id: string }): number =>
  a.delivery_id < b.delivery_id ? -1 : 1
const byLaneAndEnd = (a: { lane: string; ends_by: Date }, b: { lane: string; ends_by: Date }): number =>
  a.lane === b.lane ? a.ends_by.getTime() - b.ends_by.getTime() : byLane(a, b)
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** Of a lane that is lost nobody looks at the rest. */
const known = ({ lanes }: ReadAnswer) =>
  lanes.map((read) => (read.status === 'lost' ? { lane: read.lane, fence: read.fence, status: read.status } : read))

function sortedLease(leased: Leased): Leased {
  const grants = leased.grants.map((grant) => ({
    ...grant,
    orphans_end_in_ms: grant.orphans_end_in_ms.toSorted((a, b) => a - b),
  }))
  return { ...leased, grants: grants.toSorted(byLane), elsewhere: [...leased.elsewhere].toSorted() }
}

function sortedHeld(held: readonly Held[]): string[] {
  return held.map(({ lane, fence }) => `${lane} ${fence}`).toSorted()
}
