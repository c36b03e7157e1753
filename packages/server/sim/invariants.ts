/** The rules that must always be true. They watch rows and requests in separate records, and never ask the machine. */
import { canMove, isScheduled } from '../src/domain/delivery/delivery-state.ts'
import type { DeliverLimits } from '../src/pipeline/deliver/limits.ts'
import type { Begun } from '../src/pipeline/deliver/ports.ts'
import type { Actor, Attempt, Change, Delivery } from './rows.ts'
import { CapRules } from './cap-rules.ts'
import { AllowanceRules } from './allowances.ts'
import { LaneRules } from './lane-rules.ts'
import { OrderRules } from './order-rules.ts'
import { ShareRules } from './share-rules.ts'
import { SecretRules } from './secret-rules.ts'
import { SlotRules } from './slot-rules.ts'
import { Violation } from './violation.ts'
import type { SimStore } from './store.ts'

/** The facts about a worker that distinguish an explained duplicate from an unexplained one. */
export interface Witness {
  /** The last crash, pause or store problem. */
  readonly lastTroubleAt: number
  readonly lastSlowStoreAt: number
}

interface Story {
  /** The number of replays so far. Each restarts the count of attempts. */
  generation: number
  failures: number
  open: string | null
  /** Accepted by the receiver in this generation. */
  accepted: Begun[]
}

interface Sent {
  readonly generation: number
  readonly at: number
  readonly witness: Witness
  readonly hidden: boolean
}

export interface InvariantsOptions {
  readonly store: () => SimStore
  readonly limits: DeliverLimits
  /** Lanes whose receiver answers 410: those failures do not count against the schedule. */
  readonly goneLanes: ReadonlySet<string>
  /** Lanes whose receiver never comes back: they end turned off, with their waiting deliveries paused. */
  readonly hopelessLanes: ReadonlySet<string>
  /** Whether the simulator makes and verifies real signatures, instead of comparing only the secrets. */
  readonly signsInEarnest: boolean
}

export class Invariants {
  readonly #options: InvariantsOptions
  readonly #fences = new Map<string, number>()
  readonly #pausedSince = new Map<string, number>()
  readonly #stories = new Map<string, Story>()
  readonly #sent = new Map<string, Sent>()
  readonly #acknowledged = new Set<string>()
  readonly #lastSentAt = new Map<string, number>()
  readonly #rules = new LaneRules()
  readonly #cap = new CapRules()
  readonly #allowance = new AllowanceRules()
  readonly #order = new OrderRules()
  readonly secrets: SecretRules
  readonly shares = new ShareRules()
  readonly slots: SlotRules
  duplicates = 0

  constructor(options: InvariantsOptions) {
    this.#options = options
    this.secrets = new SecretRules(options.signsInEarnest)
    this.slots = new SlotRules(options.limits)
  }

  /** The store must call this at every change, inside the transaction. */
  readonly changed = (change: Change, now: number): void => {
    switch (change.type) {
      case 'granted':
        this.#rules.granted(change.lane, now)
        return this.#granted(change.lane)
      case 'noting':
        return this.#rules.noting(change.lane, now)
      case 'paused':
        if (!this.#pausedSince.has(change.lane.lane)) this.#pausedSince.set(change.lane.lane, now)
        return
      case 'resumed':
        this.#pausedSince.delete(change.lane.lane)
        return
      case 'moved':
        return this.#moved(change, now)
      case 'opened':
        return this.#opened(change.attempt, change.by)
      case 'closed':
        return this.#closed(change.attempt, change.by, now)
      case 'allowed':
        return this.#allowance.set(change.workspace, change.max, change.turned)
    }
  }

  acknowledged(deliveryIds: readonly string[]): void {
    for (const id of deliveryIds) {
      this.#acknowledged.add(id)
      must(this.#store.deliveries.has(id), () => `${id} was acknowledged and is not stored`)
    }
  }

  /** A worker is about to send a request. */
  sending(attempt: Begun, now: number, { witness, hidden }: Pick<Sent, 'witness' | 'hidden'>): void {
    const { attempt_id, delivery_id, lane, fence } = attempt
    const row = this.#store.attempts.get(attempt_id)
    const delivery = this.#store.deliveries.get(delivery_id)
    must(delivery?.record_id === attempt.record_id, () => `${attempt_id} sends a record that was not stored`)
    must(row !== undefined && row.fence === fence, () => `${attempt_id} was sent without a committed attempt`)
    must(!this.#sent.has(attempt_id), () => `${attempt_id} was sent twice`)
    must(
      this.#fences.get(lane) === fence,
      () => `${attempt_id} was sent under fence ${fence}, which is no longer the lane's`,
    )
    this.#rules.sent(this.#store.lane(lane), attempt_id, now)
    this.#checkPause(attempt, now, witness)
    this.#sent.set(attempt_id, { generation: this.#story(delivery_id).generation, at: now, witness, hidden })
    this.#lastSentAt.set(lane, now)
  }

  /** The request is prepared, and on the wire from now on. */
  left({ attempt_id, fence, lane }: Begun, now: number): void {
    const row = this.#store.lane(lane)
    const flying = this.#cap.left(row, attempt_id, now)
    // An earlier request cannot know the breaker's new state, and neither can a previous sender that was suspended meanwhile.
    const sentAt = this.#sent.get(attempt_id)?.at ?? now
    if (row.fence === fence && sentAt >= row.remembered_at) this.#rules.left(row, flying)
  }

  /** The request has ended for its worker: it was answered, it failed, or the worker died. */
  ended({ attempt_id, lane }: Begun, now: number, end: { answered: boolean; succeeded?: boolean }): void {
    if (end.answered) this.#rules.answered(lane, attempt_id, { now, succeeded: end.succeeded === true })
    this.#cap.ended(this.#store.lane(lane), attempt_id, now)
  }

  /** The receiver accepted the event. */
  accepted(attempt: Begun): void {
    const story = this.#story(attempt.delivery_id)
    if (this.#sent.get(attempt.attempt_id)?.generation !== story.generation) return
    if (story.accepted.length > 0) this.duplicates += 1
    // A late request can arrive after the attempt that repeats it, so the order of the attempts counts.
    for (const other of story.accepted) {
      const later = other.attempt_number > attempt.attempt_number
      this.#mustBeExcused(later ? attempt : other, later ? other : attempt)
    }
    story.accepted.push(attempt)
  }

  /** Some time after a crash, each lane that had a request in flight has a new owner, which has sent again. */
  recovered(attempts: readonly Begun[], crashedAt: number, now: number): void {
    for (const { attempt_id, lane } of attempts) {
      if (this.#pausedSince.has(lane)) continue
      must(
        this.#store.attempts.get(attempt_id)?.outcome !== null,
        () => `${attempt_id} is still open long after its worker died`,
      )
      if (
        this.#rules.hindered(this.#store.lane(lane), { since: crashedAt, now }) ||
        this.#cap.wasFull(this.#store.lane(lane), { since: now - TAKEN_AT_ONCE_MS, now }) ||
        this.slots.wasShort(this.#store.lane(lane).workspace, crashedAt)
      )
        continue
      const sentAt = this.#lastSentAt.get(lane) ?? -Infinity
      must(sentAt > crashedAt, () => `nobody has sent to ${lane} since its worker died`)
    }
  }

  /** In a calm world, no work waits longer than it takes to find a new owner, unless its lane was full meanwhile. */
  nothingWaits(now: number): void {
    const { leaseMs, sweepMs } = this.#options.limits
    for (const row of this.#store.deliveries.values()) {
      const { delivery_id, lane, next_attempt_at } = row
      const { timeout_ms } = this.#store.lane(lane).settings
      // A lane with a possibly started attempt is granted again first, and before that its requests end.
      const patient = now - leaseMs - sweepMs - 500 - (timeout_ms > leaseMs ? timeout_ms : 0)
      if (next_attempt_at === null || next_attempt_at > patient || this.#pausedSince.has(lane)) continue
      if (this.#rules.hindered(this.#store.lane(lane), { since: patient, now }) || this.#order.hindered(row, patient))
        continue
      if (this.#cap.wasFull(this.#store.lane(lane), { since: patient, now })) continue
      this.#mustGetSlot(row, now)
      must(
        this.slots.wasShort(this.#store.lane(lane).workspace, patient),
        () => `${delivery_id} waits, but nothing hinders it`,
      )
    }
    for (const { outcome, attempt_id, lane, started_at } of this.#store.attempts.values()) {
      const longestMs = this.#store.lane(lane).settings.timeout_ms
      must(
        outcome !== null || started_at > now - leaseMs - sweepMs - 500 - longestMs,
        () => `${attempt_id} is open longer than a request can last`,
      )
    }
  }

  /** A workspace without a slot gets one after a bounded number of others were freed. */
  #mustGetSlot({ lane, next_attempt_at }: Delivery, now: number): void {
    const row = this.#store.lane(lane)
    const since = now - STARVED_MS
    if (row.owner === null || (next_attempt_at ?? now) > since - STARVED_MS) return
    if (
      this.#rules.wasGranted(row, since - STARVED_MS) ||
      this.#rules.hindered(row, { since: since - STARVED_MS, now })
    )
      return
    this.slots.mustNotStarve(row.owner.split('.', 1)[0] ?? '', row.workspace, since)
  }

  /** Living owners share the lanes with current sends. A lane that waits for its rate does not count. */
  shared(now: number): void {
    const isCounted = (lane: string): boolean => (this.#lastSentAt.get(lane) ?? -Infinity) > now - AT_WORK_MS
    this.shares.look(this.#store.holdings(now, isCounted), now)
  }

  /** The deliveries that wait for the allowance were released as far as there is room. */
  released(workspace: string): void {
    this.#allowance.released(workspace, this.#store.allowances.of(workspace))
  }

  /** Some deliveries wait for the allowance. */
  isAwaited(workspace: string): boolean {
    return this.#allowance.waiting(workspace).size > 0
  }

  /** When the faults have stopped and time has passed, every row must be in its final state. */
  atRest(): void {
    for (const id of this.#acknowledged)
      must(this.#store.deliveries.has(id), () => `${id} was acknowledged and is lost`)
    for (const row of this.#store.deliveries.values()) {
      const { delivery_id, state } = row
      const story = this.#story(delivery_id)
      const off = state === 'paused' && !this.#store.lane(row.lane).enabled && this.#options.hopelessLanes.has(row.lane)
      must(
        off || ['delivered', 'failed', 'cancelled'].includes(state),
        () => `${delivery_id} never reached an end: ${state}`,
      )
      must(story.open === null, () => `${delivery_id} is ${state} and has an open attempt`)
      must(
        state !== 'delivered' || story.accepted.length > 0,
        () => `${delivery_id} is delivered, but no receiver accepted it`,
      )
      const { length } = this.#store.lane(row.lane).settings.schedule_seconds
      must(
        state !== 'failed' || story.failures >= length,
        () => `${delivery_id} failed after ${story.failures} of ${length}`,
      )
    }
  }

  get #store(): SimStore {
    return this.#options.store()
  }

  #granted(lane: { readonly lane: string; readonly fence: number }): void {
    must(lane.fence > (this.#fences.get(lane.lane) ?? 0), () => `the fence of ${lane.lane} did not rise`)
    this.#fences.set(lane.lane, lane.fence)
  }

  #moved({ row, from, by }: Extract<Change, { type: 'moved' }>, now: number): void {
    this.#mustBeCurrent(row.lane, by)
    const { delivery_id, state, next_attempt_at } = row
    // A released delivery whose destination is off stays paused for that reason.
    const waitsOn = from === state && by.act === 'release'
    must(
      from === null || waitsOn || canMove(from, state),
      () => `${delivery_id} moved from ${from} to ${state} by ${by.act}`,
    )
    const ended = from === 'delivered' || from === 'failed' || from === 'cancelled'
    must(!ended || by.act === 'replay', () => `${delivery_id} left ${from} by ${by.act}`)
    must(isScheduled(state) === (next_attempt_at !== null), () => `${delivery_id} is ${state}, due ${next_attempt_at}`)
    must((state === 'paused') === (row.pause_reason !== null), () => `${delivery_id} is ${state}: ${row.pause_reason}`)
    this.#allowance.moved(row, this.#store.lane(row.lane).workspace, by)
    if (by.act === 'replay') this.#replayed(row)
    this.#order.moved(row, by, now)
  }

  #replayed(row: Delivery): void {
    const story = this.#story(row.delivery_id)
    story.generation += 1
    story.failures = 0
    story.accepted = []
  }

  #opened(attempt: Attempt, by: Actor): void {
    this.#mustBeCurrent(attempt.lane, by)
    const story = this.#story(attempt.delivery_id)
    must(story.open === null, () => `${attempt.attempt_id} began while ${story.open} is open`)
    must(!this.#pausedSince.has(attempt.lane), () => `${attempt.attempt_id} began while its lane is paused`)
    story.open = attempt.attempt_id
    const { length } = this.#store.lane(attempt.lane).settings.schedule_seconds
    const allowed = story.failures < length || this.#options.goneLanes.has(attempt.lane)
    must(
      allowed,
      () => `${attempt.attempt_id} began after ${story.failures} failures; the schedule has ${length} steps`,
    )
  }

  #closed(attempt: Attempt, by: Actor, now: number): void {
    // oxlint-disable-line max-params -- the attempt, the actor, and the time
    this.#mustBeCurrent(attempt.lane, by)
    const story = this.#story(attempt.delivery_id)
    must(story.open === attempt.attempt_id, () => `${attempt.attempt_id} was closed but was not open`)
    story.open = null
    if (attempt.counted) story.failures += 1
    // Its next sender must assume that it is under way.
    if (by.act === 'recover' || by.act === 'cancel') this.#cap.doubted(this.#store.lane(attempt.lane), attempt, now)
  }

  #mustBeCurrent(lane: string, by: Actor): void {
    const current = this.#fences.get(lane) ?? 0
    must(
      by.fence === null || by.fence === current,
      () => `${by.act} under fence ${by.fence} changed ${lane} at ${current}`,
    )
  }

  #checkPause(attempt: Begun, now: number, witness: Witness): void {
    const since = this.#pausedSince.get(attempt.lane)
    if (since === undefined) return
    const { staleBeginMs, staleBeginMsMax } = this.#options.limits
    const slow = now - witness.lastSlowStoreAt < 120_000
    const allowedMs = slow ? staleBeginMsMax : staleBeginMs
    must(now - since <= allowedMs, () => `${attempt.attempt_id} was sent ${now - since} ms after its lane was paused`)
  }

  #mustBeExcused({ attempt_id: earlier }: Begun, { attempt_id: again }: Begun): void {
    const sent = this.#sent.get(earlier)
    const row = this.#store.attempts.get(earlier)
    must(row?.outcome !== 'succeeded', () => `${again} was sent although ${earlier} had succeeded`)
    const excused = sent !== undefined && (sent.hidden || sent.witness.lastTroubleAt >= sent.at)
    must(excused, () => `${again} repeats ${earlier}, and nothing went wrong in between`)
  }

  #story(deliveryId: string): Story {
    const known = this.#stories.get(deliveryId)
    if (known !== undefined) return known
    const story = { generation: 0, failures: 0, open: null, accepted: [] }
    this.#stories.set(deliveryId, story)
    return story
  }
}

/** Someone has sent to a lane with work within this time. */
const AT_WORK_MS = 5_000

/** A process has noticed due work within this time, and slots are freed in the next. */
const STARVED_MS = 30_000

/** A free slot is used within this time. */
const TAKEN_AT_ONCE_MS = 200

/** The sentence is built only when needed, because rules pass millions of times before one is broken. */
function must(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new Violation(message())
}
