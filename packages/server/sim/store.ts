/**
 * The reference model of the delivery store: each method is one transaction, executed at `now`. The SQL store must give the
 * same answers. It contains only the rules; invariants.ts, which only watches, judges whether they are followed.
 */
import { grantable } from './grantable.ts'
import { keepNote, recalled } from './notes.ts'
import {
  openAttempt,
  dueAt,
  dueIn,
  hasWork,
  lanesOf,
  LEFTOVER,
  mustWait,
  newDelivery,
  orphanOf,
  orphansEndIn,
  workAt,
} from './rows.ts'
import { NO_OTHERS, type Others } from '../src/domain/delivery/fair-share.ts'
import type { AttemptOutcome, DeliveryState, PauseReason } from '../src/domain/delivery/delivery-state.ts'
import type {
  Begin,
  Begun,
  LaneRead,
  LaneReadInput,
  Leased,
  LeaseInput,
  Note,
  ReadAnswer,
  ReadInput,
  ReleaseInput,
  Renewed,
  RenewInput,
  Settle,
  Turned,
  TurnInput,
} from '../src/pipeline/deliver/ports.ts'
import type { Plant } from './plants.ts'
import { Tables } from './tables.ts'
import type { Change, Delivery, Item, LaneRow, Step } from './rows.ts'

export interface SimStoreOptions {
  readonly watch?: (change: Change, now: number) => void
  readonly plant?: Plant | undefined
  /** A read of recent deliveries leaves out those that came in longer ago. */
  readonly recentMs?: number
}

export class SimStore extends Tables {
  readonly #watch: (change: Change, now: number) => void
  readonly #plant: Plant | undefined
  readonly #recentMs: number

  constructor(options: SimStoreOptions = {}) {
    super()
    this.#watch = options.watch ?? (() => {})
    this.#plant = options.plant
    this.#recentMs = options.recentMs ?? Infinity
  }

  // The operations of the delivery machine

  lease(now: number, input: LeaseInput): Leased {
    const nothing = { grants: [], elsewhere: [], more: false, others: NO_OTHERS, left: false }
    const row = this.owners.get(input.owner)
    if (row !== undefined && row.until <= now) return { alive: false, ...nothing }
    if (row !== undefined && row.serial >= input.serial) return { alive: true, ...nothing }
    const others = this.#others(input.owner, now)
    this.extend(input, now)
    this.#freeDoubtful(input)
    if (input.any_due) this.#moveForgotten(now)
    const wanted = input.wanted.map((key) => this.lane(key))
    this.#clearClosed(input.any_due ? this.lanes.values() : wanted, now)
    const free = input.any_due ? this.freeByDue(now) : wanted.filter((lane) => !this.isHeld(lane, now))
    const found = free.filter((lane) => this.pauseReason(lane) === null && hasWork(lane, now))
    const { grants, more, left } = grantable(found, { input, others, isLast: this.allLeft(input.owner, now) })
    for (const lane of grants) this.#grant(lane, input, now)
    if (others.owners > 0) this.count(input.owner, { taken: grants.length, left })
    const elsewhere = wanted.filter((lane) =>
      this.isHeld(lane, now) ? lane.owner !== input.owner : (lane.waits_until ?? now) > now,
    )
    return {
      alive: true,
      grants: grants.map((lane) => ({
        lane: lane.lane,
        fence: lane.fence,
        workspace: lane.workspace,
        settings: lane.settings,
        memory: recalled(lane, { now, plant: this.#plant }),
        orphans_end_in_ms: orphansEndIn(lane, now),
      })),
      elsewhere: elsewhere.map(({ lane }) => lane),
      more,
      others,
      left,
    }
  }

  renew(now: number, input: RenewInput): Renewed {
    const row = this.owners.get(input.owner)
    if (row === undefined || row.until <= now) return { alive: false, others: NO_OTHERS }
    row.until = now + input.lease_ms
    row.lanes = input.held
    return { alive: true, others: this.#others(input.owner, now) }
  }

  release(now: number, { owner, lanes }: ReleaseInput): null {
    if (lanes === 'all') this.owners.delete(owner)
    else {
      for (const { note, ...held } of lanes.filter(
        (one) => this.isCurrent(one) && this.lane(one.lane).owner === owner,
      )) {
        if (note !== undefined) this.#note({ ...held, ...note }, now)
        this.lane(held.lane).owner = null
      }
    }
    return null
  }

  read(now: number, input: ReadInput): ReadAnswer {
    return { lanes: input.reads.map((read) => this.#readLane(read, now)) }
  }

  turn(now: number, input: TurnInput): Turned {
    // As in the one SQL statement: a delivery that this turn settles still blocks those behind it.
    const inOrder = input.begins.map((begin) => this.#isInOrder(begin))
    const applied = input.settles.filter((settle) => this.#settle(settle, now)).map(({ attempt_id }) => attempt_id)
    const lost = input.begins.filter((begin) => !this.isCurrent(begin))
    const paused = input.begins.filter((begin) => this.isCurrent(begin) && this.pausedKey(begin.lane) !== null)
    const begun = input.begins.flatMap((begin, index) =>
      inOrder[index] === true ? (this.#begin(begin, { now }) ?? []) : [],
    )
    for (const note of input.notes ?? []) this.#note(note, now)
    return { begun, applied, paused: lanesOf(paused), lost: lanesOf(lost) }
  }

  #note(note: Note, now: number): void {
    const lane = this.lane(note.lane)
    this.#watch({ type: 'noting', lane }, now)
    keepNote(lane, note, now)
  }

  // Changes to the same rows by everyone else

  ingest(
    now: number,
    /** `begins`: the first attempts that this commit starts. */
    { items, begins = [] }: { items: readonly Item[]; begins?: readonly Begin[] },
  ): readonly Begun[] {
    const starts = new Map(begins.map((begin) => [begin.delivery_id, begin]))
    return items.flatMap((item) => {
      const row = newDelivery(item, this.nextSeq(), now)
      this.deliveries.set(row.delivery_id, row)
      this.lane(row.lane).deliveries.push(row)
      const step = { now, actor: { act: 'ingest', fence: null }, inMs: 0, from: null } as const
      if (!this.allowances.take(this.lane(row.lane).workspace)) {
        this.#move(row, 'paused', { ...step, reason: 'allowance_used' })
        return []
      }
      const begin = starts.get(row.delivery_id)
      const begun = begin === undefined ? undefined : this.#begin(begin, { now, from: null })
      if (begun !== undefined) return [begun]
      this.#schedule(row, 'pending', step)
      return []
    })
  }

  /** A new month of a workspace starts, or its plan changes. */
  allow(now: number, workspace: string, { max, turned }: { max: number | null; turned: boolean }): void {
    // oxlint-disable-line max-params -- like all operations here: the time, the subject, and the details
    const month = this.allowances.of(workspace)
    month.max = max
    if (turned) month.used = 0
    this.#watch({ type: 'allowed', workspace, max, turned }, now)
  }

  /**
   * Releases deliveries that wait for the allowance, oldest first, as far as there is room. Returns the lanes. A suspended
   * workspace releases nothing.
   */
  letGo(now: number, workspace: string): readonly string[] {
    if (this.suspended.has(workspace)) return []
    const waiting = [...this.deliveries.values()].filter(
      (row) => row.pause_reason === 'allowance_used' && this.lane(row.lane).workspace === workspace,
    )
    const released = this.allowances.released(workspace, waiting, this.#plant)
    for (const row of released) this.#schedule(row, 'pending', { now, actor: { act: 'release', fence: null }, inMs: 0 })
    return released.map(({ lane }) => lane)
  }

  /** One short commit: from here on nothing starts. Waiting deliveries are moved afterwards, lane by lane, or by the sweeps. */
  suspend(now: number, workspace: string): void {
    this.suspended.add(workspace)
    for (const lane of this.lanesOf(workspace)) this.#mark(lane, 'paused', now)
  }

  reinstate(now: number, workspace: string): void {
    this.suspended.delete(workspace)
    for (const lane of this.lanesOf(workspace))
      this.#mark(lane, this.pauseReason(lane) === null ? 'resumed' : 'paused', now)
  }

  /**
   * Moves the deliveries of one lane as the suspension or reinstatement of the workspace required, whatever the present
   * state of the workspace is.
   */
  moveWaiting(now: number, key: string, to: { readonly disabled: boolean }): void {
    const lane = this.lane(key)
    if (!to.disabled) return this.#resume(lane, now)
    this.#pauseWaiting(lane, { now, reason: 'workspace_suspended' })
    lane.unswept = true
  }

  disable(now: number, key: string): void {
    const lane = this.lane(key)
    if (lane.enabled) lane.changed_at = now
    lane.enabled = false
    this.#watch({ type: 'paused', lane }, now)
    this.#pauseWaiting(lane, { now })
  }

  /** Turning a destination on closes its breaker. */
  enable(now: number, key: string): void {
    const lane = this.lane(key)
    if (!lane.enabled) {
      lane.settings = { ...lane.settings, breaker_resets: lane.settings.breaker_resets + 1 }
      lane.waits_until = null
      lane.changed_at = now
    }
    lane.enabled = true
    this.#resume(lane, now)
  }

  /**
   * Returns false when the delivery has not ended yet, or when the allowance has no room. With `ofMany`, the delivery
   * waits until its time, as a retry does.
   */
  replay(now: number, deliveryId: string, ofMany?: { readonly inMs: number }): boolean {
    const row = this.delivery(deliveryId)
    if (
      !['delivered', 'failed', 'cancelled'].includes(row.state) ||
      !this.allowances.take(this.lane(row.lane).workspace)
    )
      return false
    row.failure_count = 0
    row.order_seq = this.nextSeq()
    row.next_trigger = 'replay'
    this.#schedule(row, ofMany === undefined ? 'pending' : 'retrying', {
      now,
      actor: { act: 'replay', fence: null },
      inMs: ofMany?.inMs ?? 0,
    })
    return true
  }

  /** Makes the delivery due now instead of later. Returns false when it does not wait. Its state does not change. */
  retry(now: number, deliveryId: string): boolean {
    const row = this.delivery(deliveryId)
    if (row.next_attempt_at === null) return false
    if (row.state === 'retrying') row.next_trigger = 'manual'
    row.next_attempt_at = Math.min(row.next_attempt_at, now)
    this.lane(row.lane).work_at = null
    return true
  }

  /** Also closes an open attempt. Its request continues, and the next owner of the lane must reserve a slot for it. */
  cancel(now: number, deliveryId: string): boolean {
    const row = this.delivery(deliveryId)
    if (['delivered', 'failed', 'cancelled'].includes(row.state)) return false
    if (this.#plant !== 'cap-broken') this.#orphan(row)
    this.#cancel(row, now)
    return true
  }

  /** The destination is deleted, so nobody is granted its lane again. */
  cancelAll(now: number, key: string): void {
    for (const row of this.lane(key).deliveries)
      if (!['delivered', 'failed', 'cancelled'].includes(row.state)) this.#cancel(row, now)
  }

  #others(owner: string, now: number): Others {
    return this.#plant === 'hoard' ? NO_OTHERS : this.othersOf(owner, now)
  }

  // Steps of a transaction

  #freeDoubtful({ owner, doubtful_from }: LeaseInput): void {
    if (doubtful_from === null) return
    for (const lane of this.lanes.values()) if (lane.owner === owner && lane.serial >= doubtful_from) lane.owner = null
  }

  #grant(lane: LaneRow, { owner, serial }: LeaseInput, now: number): void {
    lane.serial = serial
    this.#hand(lane, owner, now)
  }

  /** A paused lane is granted to nobody, but the remains of a dead owner in it are recovered anyway. */
  #hand(lane: LaneRow, owner: string | null, now: number): void {
    // oxlint-disable-line max-params -- the lane, its new owner, and the time
    // A lane whose owner gave it back, or ended its lease itself, has no requests under way.
    const unended = this.owners.has(lane.owner ?? '') && this.#plant !== 'cap-broken'
    lane.owner = owner
    lane.fence += 1
    lane.note_serial = 0
    this.#watch({ type: 'granted', lane }, now)
    this.#recover(lane, { now, unended })
  }

  #recover(lane: LaneRow, { now, unended }: { now: number; unended: boolean }): void {
    if (this.#plant === 'no-reclaim') return
    const actor = { act: 'recover', fence: lane.fence } as const
    for (const row of lane.deliveries) {
      if (row.state !== 'sending') continue
      if (unended) this.#orphan(row)
      this.#close(row, 'interrupted', { now, actor })
      row.next_trigger = 'automatic'
      this.#schedule(row, 'retrying', { now, actor, inMs: 0 })
    }
  }

  #cancel(row: Delivery, now: number): void {
    const actor = { act: 'cancel', fence: null } as const
    this.#close(row, 'interrupted', { now, actor })
    this.#move(row, 'cancelled', { now, actor })
  }

  #orphan(row: Delivery): void {
    const [lane, attempt] = [this.lane(row.lane), this.attempts.get(row.open_attempt_id ?? '')]
    if (attempt !== undefined) lane.orphans = [...lane.orphans, orphanOf(lane, attempt)]
  }

  #readLane({ lane: key, fence, limit, exclude, ordered, recent }: LaneReadInput, now: number): LaneRead {
    const lane = this.lane(key)
    const status = lane.fence !== fence ? 'lost' : this.pauseReason(lane) === null ? 'held' : 'paused'
    const passedOver = (row: Delivery): boolean =>
      (ordered === true && this.#mustWait(row)) || (recent === true && row.came_at < now - this.#recentMs)
    return { lane: key, fence, status, settings: lane.settings, ...dueIn(lane, { now, limit, exclude, passedOver }) }
  }

  #begin(begin: Begin, { now, from }: { now: number; from?: null }): Begun | undefined {
    const row = this.delivery(begin.delivery_id)
    const proven = this.isCurrent(begin) || (from === null && this.#plant === 'unproven-start')
    const guarded = proven && this.pausedKey(begin.lane) === null && dueAt(row) <= now
    if (!guarded) return undefined
    const { lane, fence, delivery_id } = begin
    row.attempt_count += 1
    const attempt = openAttempt(begin, row, now)
    const { attempt_id, attempt_number } = attempt
    this.attempts.set(attempt_id, attempt)
    row.open_attempt_id = attempt_id
    const actor = { act: from === null ? 'ingest' : 'begin', fence } as const
    this.#move(row, 'sending', { now, actor, ...(from === null ? { from } : {}) })
    this.#watch({ type: 'opened', attempt, by: actor }, now)
    const { record_id, failure_count } = row
    return { lane, fence, delivery_id, attempt_id, record_id, attempt_number, failure_count }
  }

  #isInOrder({ delivery_id, ordered }: Begin): boolean {
    const row = this.delivery(delivery_id)
    return ordered === true ? !this.#mustWait(row) : row.order_key === null
  }

  #mustWait(row: Delivery): boolean {
    return this.#plant !== 'order-broken' && mustWait(row, this.lane(row.lane))
  }

  #settle(settle: Settle, now: number): boolean {
    const row = this.delivery(settle.delivery_id)
    const open = row.open_attempt_id === settle.attempt_id && this.isCurrent(settle)
    if (row.state !== 'sending' || !(open || this.#plant === 'no-fence')) return false
    const actor = { act: 'settle', fence: settle.fence } as const
    const counted = settle.outcome === 'failed' && settle.counts
    this.#close(row, settle.outcome, { now, actor, counted })
    if (counted) row.failure_count += 1
    if (settle.disable_destination !== null) this.disable(now, settle.lane)
    row.next_trigger = 'automatic'
    if (settle.next === 'retrying' || settle.next === 'paused') {
      this.#schedule(row, 'retrying', { now, actor, inMs: settle.next_attempt_in_ms ?? 0 })
    } else this.#move(row, settle.next, { now, actor })
    return true
  }

  #mark(lane: LaneRow, type: 'paused' | 'resumed', now: number): void {
    // oxlint-disable-line max-params -- the lane, the change, and the time
    lane.unswept = true
    this.#watch({ type, lane }, now)
  }

  /** Deliveries that are still paused although nothing holds them back. */
  #moveForgotten(now: number): void {
    for (const lane of this.lanes.values()) {
      if (!lane.unswept || this.pauseReason(lane) !== null) continue
      lane.unswept = false
      if (this.#plant !== 'no-sweep') this.#resume(lane, now)
    }
  }

  /** Deliveries that were left `sending`, or still wait, in paused lanes without an owner. */
  #clearClosed(lanes: Iterable<LaneRow>, now: number): void {
    for (const lane of lanes) {
      if (this.pauseReason(lane) === null || this.isHeld(lane, now)) continue
      if (workAt(lane) === LEFTOVER) this.#hand(lane, null, now)
      if (lane.unswept) this.#pauseWaiting(lane, { now })
      lane.unswept = false
    }
  }

  #pauseWaiting(lane: LaneRow, { now, reason }: { readonly now: number; readonly reason?: PauseReason }): void {
    const step = { now, actor: { act: 'pause', fence: null } as const, ...(reason === undefined ? {} : { reason }) }
    for (const row of lane.deliveries) if (row.next_attempt_at !== null) this.#move(row, 'paused', step)
  }

  #resume(lane: LaneRow, now: number): void {
    const reason = this.pauseReason(lane)
    if (reason === null) this.#watch({ type: 'resumed', lane }, now)
    const step = { now, actor: { act: 'resume', fence: null } as const, inMs: 0 }
    for (const row of lane.deliveries) {
      if (row.state !== 'paused' || (row.pause_reason === 'allowance_used' && this.#plant !== 'resumed-beyond'))
        continue
      row.pause_reason = reason
      if (reason !== null) continue
      if (row.attempt_count > 0) row.next_trigger = 'resume'
      this.#schedule(row, row.attempt_count === 0 ? 'pending' : 'retrying', step)
    }
  }

  /** Makes it wait for its time, or for its destination when that is paused. */
  #schedule(row: Delivery, state: 'pending' | 'retrying', step: Step & { inMs: number }): void {
    const paused = this.pausedKey(row.lane) !== null
    this.#move(row, paused ? 'paused' : state, { ...step, nextAt: step.now + step.inMs })
  }

  #close(row: Delivery, outcome: AttemptOutcome, { now, actor, counted = false }: Step): void {
    const attempt = this.attempts.get(row.open_attempt_id ?? '')
    if (attempt === undefined) return
    row.open_attempt_id = null
    attempt.outcome = outcome
    attempt.counted = counted
    this.#watch({ type: 'closed', attempt, by: actor }, now)
  }

  #move(row: Delivery, to: DeliveryState, { now, actor, nextAt, from = row.state, reason }: Step): void {
    row.state = to
    this.lane(row.lane).work_at = null
    row.pause_reason = to === 'paused' ? (reason ?? this.pausedKey(row.lane)) : null
    row.next_attempt_at = to === 'pending' || to === 'retrying' ? (nextAt ?? now) : null
    this.#watch({ type: 'moved', row, from, by: actor }, now)
  }
}
