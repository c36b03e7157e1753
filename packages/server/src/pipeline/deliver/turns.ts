import { RateWindow } from '../../domain/rate-window.ts'
import { Fifo } from './fifo.ts'
import { judge } from './judge.ts'
import { canBegin, memoryOf, rateFreeAt } from './lane.ts'
import { interruption, settlement } from './settle.ts'
import type { Floor } from './floor.ts'
import type { Lane } from './lane.ts'
import type { Answer, Begun, HttpResult, Settle, Turned } from './ports.ts'

interface Flight {
  readonly lane: Lane
  readonly attempt: Begun
  /** Let through by an open breaker. */
  readonly probe: boolean
}

interface Owed {
  readonly lane: Lane
  readonly settle: Settle
}

interface Start {
  readonly lane: Lane
  readonly delivery_id: string
  readonly probe: boolean
}

interface Turn {
  readonly issuedAt: number
  readonly settles: readonly Owed[]
  readonly begins: readonly Start[]
  /** Lanes whose memory it writes. */
  readonly noted: readonly Lane[]
}

/** Begins, requests and results: what goes to the store in turns, a few at a time, so that batches grow under load. */
export class Turns {
  readonly #floor: Floor
  readonly #ready = new Fifo<Lane>()
  readonly #owed = new Fifo<Owed>()
  readonly #unnoted = new Fifo<Lane>()
  readonly #flights = new Map<string, Flight>()
  readonly #turns = new Map<number, Turn>()
  #beginning = 0
  #lastTurnMs = 0

  constructor(floor: Floor) {
    this.#floor = floor
  }

  get requests(): number {
    return this.#flights.size
  }

  get unsettled(): number {
    return this.#owed.size
  }

  /** True when no turn, no request and no result is outstanding. */
  get quiet(): boolean {
    const unnoted = this.#floor.alive ? this.#unnoted.size : 0
    return this.#turns.size + this.#flights.size + this.#owed.size + unnoted === 0
  }

  /** Puts the lane in line to begin something; lanes take turns, one delivery each. */
  ready(lane: Lane): void {
    if (lane.inReadyQueue) return
    if (!canBegin(lane, this.#floor.now)) return this.#waitForRoom(lane)
    lane.inReadyQueue = true
    this.#ready.push(lane)
  }

  /** Its alarm rang: its rate or its breaker may allow more, and what was to be noted later has waited long enough. */
  rung(lane: Lane): void {
    this.ready(lane)
    if (lane.noteAt <= this.#floor.now) this.#note(lane, 'soon')
  }

  /** Before all lanes are given back at once, what their next owners must know is written. */
  noteAll(): void {
    for (const lane of this.#floor.lanes.values()) if (lane.unnoted !== 'no') this.#note(lane, 'soon')
  }

  /** The slot is free at once; the result is settled with the next turn. */
  responded(attemptId: string, result: HttpResult): void {
    const flight = this.#flights.get(attemptId)
    if (flight === undefined) return
    this.#flights.delete(attemptId)
    const { lane, attempt, probe } = flight
    const { now, random } = this.#floor
    this.#floor.reached?.('responded')
    lane.sending -= 1
    lane.lastBusy = now
    this.#watch(lane, { succeeded: judge(result).next === 'delivered', probe })
    const hopeless = probe && lane.breaker.hopeless(now)
    const settle = settlement({ attempt, result, schedule: lane.settings.schedule_seconds, random: random(), probe, hopeless })
    this.#owe({ lane, settle })
    if (settle.disable_destination !== null) this.#floor.drain(lane, false)
    this.ready(lane)
  }

  /** Tells the lane's breaker how a request ended. */
  #watch(lane: Lane, end: { succeeded: boolean; probe: boolean }): void {
    const floor = this.#floor
    const { breaker } = lane
    const troubled = breaker.failing
    const moved = breaker.ended({ ...end, maxInFlight: lane.settings.max_in_flight, now: floor.now })
    if (moved) floor.reached?.('breaker_moved')
    if (moved || end.probe) this.#note(lane, 'soon')
    else if (troubled || breaker.failing) this.#note(lane, 'later')
    const waitsUntil = breaker.waitsUntil(floor.now)
    if (waitsUntil === null) {
      if (moved) floor.askRead(lane)
      return
    }
    // What is due is read anew then, and in the order of then: the delivery that fails as a probe is the last in line.
    floor.forgetBuffer(lane)
    lane.more = 'all'
    floor.alarm(lane, Math.min(waitsUntil, floor.now + floor.limits.laneIdleMs))
  }

  /** Notes of a breaker that only counts are written behind; those of one that moves go with the next turn. */
  #note(lane: Lane, when: 'soon' | 'later'): void {
    const { now, limits, stopping } = this.#floor
    if (when === 'later' && !stopping) {
      if (lane.unnoted !== 'no') return
      lane.unnoted = 'later'
      lane.noteAt = now + limits.noteMs
      return this.#floor.alarm(lane, lane.noteAt)
    }
    lane.unnoted = 'soon'
    lane.noteAt = Infinity
    if (lane.inNoteQueue || lane.noting) return
    lane.inNoteQueue = true
    this.#unnoted.push(lane)
  }

  #waitForRoom(lane: Lane): void {
    const [orphanEndsAt] = lane.orphans
    if (orphanEndsAt !== undefined) this.#floor.alarm(lane, orphanEndsAt)
    if (lane.settings.rate_limit === null || lane.mode !== 'open' || lane.buffer.length === 0) return
    const freeAt = rateFreeAt(lane, this.#floor.now)
    if (freeAt > this.#floor.now && freeAt < Infinity) this.#floor.alarm(lane, freeAt)
  }

  answered(op: number, answer: Answer<Turned>): void {
    const turn = this.#turns.get(op)
    if (turn === undefined) return
    this.#turns.delete(op)
    this.#beginning -= turn.begins.length
    for (const { lane, delivery_id } of turn.begins) {
      lane.beginning -= 1
      lane.known.delete(delivery_id)
    }
    const turned = this.#floor.valueOf(answer)
    if (turn.noted.length > 0) this.#floor.reached?.('noted')
    for (const lane of turn.noted) this.#noted(lane, turned !== undefined)
    if (turned !== undefined) return this.#committed(turn, turned)
    this.#owed.putBack(turn.settles)
    for (const { lane, delivery_id, probe } of turn.begins.toReversed()) {
      if (probe) lane.breaker.probeLost()
      // Perhaps begun: nobody may begin it again before a new fence has recovered the lane.
      if (answer.outcome === 'unknown') this.#floor.drain(lane, true)
      else if (lane.mode === 'open') {
        lane.known.add(delivery_id)
        lane.buffer.unshift(delivery_id)
        this.ready(lane)
      }
      this.#floor.leaveIfQuiet(lane)
    }
  }

  advance(): void {
    const { alive, limits, stopping } = this.#floor
    while (this.#turns.size < limits.turnsInFlightMax && this.#worthATurn()) {
      const settles = this.#owed.take(limits.settlesPerTurnMax)
      const mayBegin = alive && !stopping && this.#owed.size <= limits.unsettledMax
      const begins = mayBegin ? this.#takeBegins() : []
      // Who is granted a lane anew must not find it locked by what its former owner still has to say.
      const noted = alive ? this.#takeUnnoted() : []
      if (settles.length + begins.length + noted.length === 0) return
      this.#issue({ issuedAt: this.#floor.now, settles, begins, noted })
    }
  }

  /** A turn costs the store much the same for one result as for twenty, so what is few waits for the one under way. */
  #worthATurn(): boolean {
    const waiting = this.#owed.size + this.#ready.size + this.#unnoted.size
    const enough = this.#turns.size === 0 ? 1 : Math.min(this.#floor.limits.turnItemsMin, this.#flights.size / 2)
    return waiting > 0 && waiting >= enough
  }

  #issue(turn: Turn): void {
    const op = this.#floor.nextOp()
    this.#turns.set(op, turn)
    const settles = turn.settles.map(({ settle }) => settle)
    const begins = turn.begins.map(({ lane, delivery_id }) => {
      const begin = { lane: lane.key, fence: lane.fence, delivery_id }
      return lane.settings.ordered ? { ...begin, ordered: true } : begin
    })
    if (turn.noted.length === 0) return this.#floor.emit({ type: 'turn', op, input: { settles, begins } })
    const notes = turn.noted.map((lane) => ({ lane: lane.key, fence: lane.fence, serial: op, memory: memoryOf(lane, this.#floor.now) }))
    this.#floor.emit({ type: 'turn', op, input: { settles, begins, notes } })
  }

  #takeUnnoted(): Lane[] {
    if (this.#unnoted.size === 0) return []
    const lanes = this.#unnoted.take(this.#unnoted.size)
    const mine = lanes.filter((lane) => {
      lane.inNoteQueue = false
      return lane.mode === 'open' || lane.mode === 'draining'
    })
    for (const lane of mine) {
      lane.noting = true
      lane.unnoted = 'no'
    }
    return mine
  }

  #noted(lane: Lane, done: boolean): void {
    lane.noting = false
    if (!done || lane.unnoted === 'soon') this.#note(lane, 'soon')
    this.#floor.leaveIfQuiet(lane)
    this.ready(lane)
  }

  #takeBegins(): Start[] {
    const { beginsPerTurnMax, requestsMax } = this.#floor.limits
    const room = Math.min(beginsPerTurnMax, requestsMax - this.#flights.size - this.#beginning)
    const begins: Start[] = []
    while (begins.length < room) {
      const lane = this.#ready.shift()
      if (lane === undefined) break
      lane.inReadyQueue = false
      const delivery_id = canBegin(lane, this.#floor.now) ? lane.buffer.shift() : undefined
      if (delivery_id === undefined) continue
      lane.beginning += 1
      const probe = lane.breaker.state === 'open'
      if (probe) {
        lane.breaker.probe()
        this.#floor.reached?.('probing')
      }
      // Both must be known to the next owner when this is begun, so they are noted in the same commit.
      if (probe || lane.settings.rate_limit !== null) this.#note(lane, 'soon')
      begins.push({ lane, delivery_id, probe })
      this.ready(lane)
      this.#floor.askRead(lane)
    }
    this.#beginning += begins.length
    return begins
  }

  #committed(turn: Turn, turned: Turned): void {
    const floor = this.#floor
    this.#passed(turned)
    for (const { lane, settle } of turn.settles) this.#settled(lane, settle)
    for (const held of turned.lost) {
      const lane = floor.find(held)
      if (lane !== undefined) floor.lose(lane)
    }
    for (const held of turned.paused) {
      const lane = floor.find(held)
      if (lane !== undefined) floor.drain(lane, false)
    }
    const ageMs = floor.now - turn.issuedAt
    const fresh = ageMs <= this.#patienceMs()
    this.#lastTurnMs = ageMs
    const starts = new Map(turn.begins.map((start) => [start.delivery_id, start]))
    for (const attempt of turned.begun) {
      const start = starts.get(attempt.delivery_id)
      if (start === undefined) continue
      this.#begun({ lane: start.lane, attempt, probe: start.probe }, { ageMs, fresh })
      starts.delete(attempt.delivery_id)
    }
    for (const { lane, probe } of starts.values()) if (probe) this.#probeLost(lane)
    for (const { lane } of turn.begins) {
      floor.leaveIfQuiet(lane)
      this.ready(lane)
    }
  }

  #passed({ begun, applied }: Turned): void {
    if (begun.length > 0) this.#floor.reached?.('begun')
    if (applied.length > 0) this.#floor.reached?.('settled')
  }

  #begun(flight: Flight, { ageMs, fresh }: { ageMs: number; fresh: boolean }): void {
    const { lane, attempt, probe } = flight
    const { alive, limits, stopping } = this.#floor
    // Its breaker opened while this was being begun.
    const tooLate = !probe && lane.breaker.holds
    if (!fresh || !alive || stopping || lane.mode !== 'open' || tooLate) {
      if (probe) this.#probeLost(lane)
      return this.#owe({ lane, settle: interruption(attempt) })
    }
    lane.sending += 1
    this.#countSend(lane)
    this.#flights.set(attempt.attempt_id, flight)
    const { timeout_ms } = lane.settings
    this.#floor.emit({ type: 'send', attempt, timeout_ms, ends_in_ms: timeout_ms + limits.staleBeginMsMax - ageMs })
  }

  #countSend(lane: Lane): void {
    const { rate_limit } = lane.settings
    if (rate_limit === null) return
    lane.rate ??= new RateWindow()
    lane.rate.sent(rate_limit, this.#floor.now)
    // Until that is noted the next owner takes it for sent later than it was, which is on the safe side.
    this.#note(lane, 'later')
  }

  #probeLost(lane: Lane): void {
    lane.breaker.probeLost()
    lane.more = 'all'
    this.#floor.askRead(lane)
  }

  #owe(owed: Owed): void {
    owed.lane.unsettled += 1
    this.#owed.push(owed)
  }

  #settled(lane: Lane, settle: Settle): void {
    lane.unsettled -= 1
    if (lane.settings.ordered) this.#nextOfKey(lane)
    if (settle.next_attempt_in_ms !== null && lane.mode === 'open') {
      const dueAt = this.#floor.now + settle.next_attempt_in_ms
      lane.nextDue = Math.min(lane.nextDue ?? Infinity, dueAt)
      this.#floor.alarm(lane, dueAt)
    }
    this.#floor.leaveIfQuiet(lane)
  }

  /** The delivery behind the one that has ended may be begun now. */
  #nextOfKey(lane: Lane): void {
    lane.more = 'all'
    this.#floor.askRead(lane)
  }

  /** A slow store must not stop delivery for good, so patience follows it up to a bound. */
  #patienceMs(): number {
    const { staleBeginMs, staleBeginMsMax } = this.#floor.limits
    return Math.min(staleBeginMsMax, Math.max(staleBeginMs, 2 * this.#lastTurnMs))
  }
}
