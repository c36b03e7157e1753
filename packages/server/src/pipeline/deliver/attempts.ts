import { RateWindow } from '../../domain/delivery/rate-window.ts'
import type { Ended } from '../../domain/delivery/breaker.ts'
import { Fifo } from './fifo.ts'
import { judge } from './judge.ts'
import { canBegin, canBeginOnArrival, rateFreeAt, type Lane } from './lane.ts'
import type { LaneNotes } from './lane-notes.ts'
import type { MachineState } from './machine-state.ts'
import type { Answer, Arrival, Begun, SendResult, Settle } from './ports.ts'
import { ReadyLanes } from './ready-lanes.ts'
import { interruption, settlement } from './settle.ts'

/** A delivery whose attempt a turn will start, or the commit that stores it. */
export interface Start {
  readonly lane: Lane
  readonly delivery_id: string
  /** It is stored by the commit that starts it. */
  readonly arrives: boolean
  /** An open breaker let it through as its probe. */
  readonly probe: boolean
}

interface Flight extends Pick<Start, 'lane' | 'probe'> {
  readonly attempt: Begun
}

/** A result that a turn will commit. */
export interface Unsettled {
  readonly lane: Lane
  readonly settle: Settle
}

/**
 * One attempt, step by step. The store answers steps 1, 3 and 6, and many attempts share a turn there:
 *
 * 1. `lineUp` its lane may start an attempt; workspaces and their lanes take turns, one delivery each
 * 2. `takeBegins` it takes a slot, and a turn will start it; `takeArrivals` begins here: the commit of the delivery starts it
 * 3. `send` the start is committed, so its request leaves; or it does not, because something changed meanwhile
 * 4. `responded` the request has ended: the slot is free, and the breaker learns the outcome
 * 5. `#addUnsettled` the result is judged, and a turn will commit it
 * 6. `settled` the result is committed: the delivery has ended, or it waits for its next attempt
 */
export class Attempts {
  readonly #state: MachineState
  readonly #notes: LaneNotes
  readonly #ready: ReadyLanes
  readonly #flights = new Map<string, Flight>()
  readonly #unsettled = new Fifo<Unsettled>()
  #settleAt = Infinity

  constructor(state: MachineState, notes: LaneNotes) {
    this.#state = state
    this.#notes = notes
    const { requestsMax: all, requestsReserved: reserved, requestsShare: share } = state.limits
    this.#ready = new ReadyLanes(state.workspaces, { all, reserved, share })
  }

  /** Lanes that may start an attempt now. */
  get readyLanes(): number {
    return this.#ready.size
  }

  get requests(): number {
    return this.#flights.size
  }

  /** Results that are neither committed nor in a turn. */
  get unsettled(): number {
    return this.#unsettled.size
  }

  /** When the results must go to the store at the latest; `Infinity` when there are none. */
  get settleAt(): number {
    return this.#settleAt
  }

  // 1. Its lane may start an attempt

  lineUp(lane: Lane): void {
    if (lane.slots.inReadyQueue) return
    if (!canBegin(lane, this.#state.now)) return this.#waitForRoom(lane)
    lane.slots.inReadyQueue = true
    this.#ready.push(lane)
  }

  #waitForRoom(lane: Lane): void {
    const [orphanEndsAt] = lane.slots.orphans
    if (orphanEndsAt !== undefined) this.#state.setTimer(lane, orphanEndsAt)
    if (lane.settings.rate_limit === null || lane.mode !== 'open' || lane.queue.buffer.length === 0) return
    const freeAt = rateFreeAt(lane, this.#state.now)
    if (freeAt > this.#state.now && freeAt < Infinity) this.#state.setTimer(lane, freeAt)
  }

  // 2. A turn will start it

  takeBegins(): Start[] {
    const { beginsPerTurnMax } = this.#state.limits
    const begins: Start[] = []
    while (begins.length < beginsPerTurnMax) {
      const lane = this.#ready.next()
      if (lane === undefined) break
      lane.slots.inReadyQueue = false
      const delivery_id = canBegin(lane, this.#state.now) ? lane.queue.buffer.shift() : undefined
      if (delivery_id === undefined) continue
      lane.slots.beginning += 1
      this.#ready.take(lane)
      const probe = lane.breaker.state === 'open'
      if (probe) this.#beginProbe(lane)
      // The next owner must know both as soon as the attempt starts, so the same commit persists them.
      if (probe || lane.settings.rate_limit !== null) this.#notes.want(lane, 'soon')
      begins.push({ lane, delivery_id, probe, arrives: false })
      this.lineUp(lane)
      this.#state.askRead(lane)
    }
    return begins
  }

  /** The same for deliveries that a commit is about to store. The others start later, when a read has found them. */
  takeArrivals(arrivals: readonly Arrival[]): Start[] {
    const begins: Start[] = []
    for (const { lane: key, delivery_id } of arrivals) {
      const lane = this.#state.lanes.get(key)
      if (lane === undefined || !canBeginOnArrival(lane, this.#state.now) || !this.#ready.hasRoom(lane)) continue
      lane.slots.beginning += 1
      this.#ready.take(lane)
      // A read must not return it while the commit is under way.
      lane.queue.known.add(delivery_id)
      begins.push({ lane, delivery_id, probe: false, arrives: true })
    }
    return begins
  }

  #beginProbe(lane: Lane): void {
    lane.breaker.probe()
    this.#state.reached?.('probing')
  }

  /** Called for every answer of the store to the turn with these starts. */
  beginsAnswered(begins: readonly Start[]): void {
    for (const { lane, delivery_id } of begins) {
      lane.slots.beginning -= 1
      lane.queue.known.delete(delivery_id)
    }
  }

  /** The turn was refused or its outcome is unknown: these wait as before, or their lanes are recovered under a new fence. */
  beginsFailed(begins: readonly Start[], outcome: Answer<never>['outcome']): void {
    for (const { lane, delivery_id, probe, arrives } of begins.toReversed()) {
      this.#ready.free(lane)
      if (probe) lane.breaker.probeLost()
      // It may have started, so no process may start it again before a new fence has recovered the lane.
      if (outcome === 'unknown') this.#state.drain(lane, true)
      // Its commit was refused, so there is no delivery.
      else if (lane.mode === 'open' && !arrives) {
        lane.queue.known.add(delivery_id)
        lane.queue.buffer.unshift(delivery_id)
        this.lineUp(lane)
      }
      this.#state.leaveIfQuiet(lane)
    }
  }

  /** The turn is committed but did not start this one, because the delivery was no longer due. */
  notBegun({ lane, probe }: Start): void {
    this.#ready.free(lane)
    if (probe) this.#probeLost(lane)
  }

  // 3. Its start is committed, so its request leaves

  send({ lane, probe }: Start, { attempt, ageMs, fresh }: { attempt: Begun; ageMs: number; fresh: boolean }): void {
    const { alive, limits, stopping } = this.#state
    // The breaker opened between the turn and its answer.
    const tooLate = !probe && lane.breaker.holds
    if (!fresh || !alive || stopping || lane.mode !== 'open' || tooLate) {
      this.#ready.free(lane)
      if (probe) this.#probeLost(lane)
      return this.#addUnsettled({ lane, settle: interruption(attempt) })
    }
    lane.slots.sending += 1
    this.#countSend(lane)
    this.#flights.set(attempt.attempt_id, { lane, attempt, probe })
    const { timeout_ms } = lane.settings
    this.#state.emit({ type: 'send', attempt, timeout_ms, ends_in_ms: timeout_ms + limits.staleBeginMsMax - ageMs })
  }

  #countSend(lane: Lane): void {
    const { rate_limit } = lane.settings
    if (rate_limit === null) return
    lane.rate ??= new RateWindow()
    lane.rate.sent(rate_limit, this.#state.now)
    // Until this is persisted, the next owner assumes a later send time than the real one, which is safe.
    this.#notes.want(lane, 'later')
  }

  #probeLost(lane: Lane): void {
    lane.breaker.probeLost()
    lane.queue.more = 'all'
    this.#state.askRead(lane)
  }

  // 4. Its request has ended

  responded(attemptId: string, result: SendResult): void {
    const flight = this.#flights.get(attemptId)
    if (flight === undefined) return
    this.#flights.delete(attemptId)
    const { lane, attempt, probe } = flight
    const { now, random } = this.#state
    this.#state.reached?.('responded')
    lane.slots.sending -= 1
    this.#ready.free(lane)
    lane.lastBusy = now
    if (result.type === 'unsent') {
      if (probe) this.#probeLost(lane)
      this.#addUnsettled({ lane, settle: interruption(attempt, this.#state.limits.unsentMs) })
      return this.lineUp(lane)
    }
    const end = endOf(result)
    if (end !== undefined) this.#watch(lane, { ...end, probe })
    else if (probe) this.#probeLost(lane)
    const hopeless = probe && lane.breaker.hopeless(now)
    const settle = settlement({
      attempt,
      result,
      schedule: lane.settings.schedule_seconds,
      random: random(),
      probe,
      hopeless,
    })
    this.#addUnsettled({ lane, settle })
    if (settle.disable_destination !== null) this.#state.drain(lane, false)
    this.lineUp(lane)
  }

  /** Reports to the lane's breaker how a request ended. */
  #watch(lane: Lane, end: Pick<Ended, 'succeeded' | 'failure' | 'probe'>): void {
    const state = this.#state
    const { breaker } = lane
    const troubled = breaker.failing
    const moved = breaker.ended({ ...end, maxInFlight: lane.settings.max_in_flight, now: state.now })
    if (moved) state.reached?.('breaker_moved')
    if (moved || end.probe) this.#notes.want(lane, 'soon')
    else if (troubled || breaker.failing) this.#notes.want(lane, 'later')
    const waitsUntil = breaker.waitsUntil(state.now)
    if (waitsUntil === null) {
      if (moved) state.askRead(lane)
      return
    }
    // The due deliveries are read again then, in the order of that time, so a delivery that failed as a probe is last.
    state.forgetBuffer(lane)
    lane.queue.more = 'all'
    state.setTimer(lane, Math.min(waitsUntil, state.now + state.limits.laneIdleMs))
  }

  // 5. A turn will commit its result

  #addUnsettled(unsettled: Unsettled): void {
    const { limits, now } = this.#state
    unsettled.lane.slots.unsettled += 1
    this.#unsettled.push(unsettled)
    this.#settleAt = Math.min(this.#settleAt, canWait(unsettled) ? now + limits.settleWaitMs : now)
  }

  takeUnsettled(): Unsettled[] {
    const taken = this.#unsettled.take(this.#state.limits.settlesPerTurnMax)
    this.#settleAt = this.unsettled === 0 ? Infinity : this.#state.now
    return taken
  }

  /** The turn was refused or its outcome is unknown. A result that is settled twice changes nothing. */
  settlesFailed(unsettled: readonly Unsettled[]): void {
    this.#unsettled.putBack(unsettled)
    if (unsettled.length > 0) this.#settleAt = this.#state.now
  }

  // 6. Its result is committed

  settled({ lane, settle }: Unsettled): void {
    lane.slots.unsettled -= 1
    if (lane.settings.ordered) this.#nextOfKey(lane)
    if (settle.next_attempt_in_ms !== null && lane.mode === 'open') {
      const dueAt = this.#state.now + settle.next_attempt_in_ms
      lane.queue.nextDue = Math.min(lane.queue.nextDue ?? Infinity, dueAt)
      this.#state.setTimer(lane, dueAt)
    }
    this.#state.leaveIfQuiet(lane)
  }

  /** The next delivery with the same key may start now. */
  #nextOfKey(lane: Lane): void {
    lane.queue.more = 'all'
    this.#state.askRead(lane)
  }
}

/** Nothing starts when this result is committed, so it can wait for others. */
function canWait({ lane, settle }: Unsettled): boolean {
  return settle.next === 'delivered' && !lane.settings.ordered
}

/** The outcome for the breaker; undefined: nothing was sent, or the fault is in the event, so it proves nothing about the destination. */
function endOf(result: Exclude<SendResult, { type: 'unsent' }>): Pick<Ended, 'succeeded' | 'failure'> | undefined {
  const verdict = judge(result)
  if (verdict.next === 'fail' || verdict.next === 'cancel') return undefined
  if (verdict.next === 'delivered') return { succeeded: true }
  const status = result.type === 'response' ? result.status : null
  return { succeeded: false, failure: { error_code: verdict.error_code, status } }
}
