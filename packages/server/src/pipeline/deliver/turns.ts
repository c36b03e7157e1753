import { Fifo } from './fifo.ts'
import { canBegin } from './lane.ts'
import { interruption, settlement } from './settle.ts'
import type { Floor } from './floor.ts'
import type { Lane } from './lane.ts'
import type { Answer, Begun, HttpResult, Settle, Turned } from './ports.ts'

interface Flight {
  readonly lane: Lane
  readonly attempt: Begun
}

interface Owed {
  readonly lane: Lane
  readonly settle: Settle
}

interface Start {
  readonly lane: Lane
  readonly delivery_id: string
}

interface Turn {
  readonly issuedAt: number
  readonly settles: readonly Owed[]
  readonly begins: readonly Start[]
}

/** Begins, requests and results: what goes to the store in turns, a few at a time, so that batches grow under load. */
export class Turns {
  readonly #floor: Floor
  readonly #ready = new Fifo<Lane>()
  readonly #owed = new Fifo<Owed>()
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
    return this.#turns.size + this.#flights.size + this.#owed.size === 0
  }

  /** Puts the lane in line to begin something; lanes take turns, one delivery each. */
  ready(lane: Lane): void {
    if (lane.inReadyQueue || !canBegin(lane)) return
    lane.inReadyQueue = true
    this.#ready.push(lane)
  }

  /** The slot is free at once; the result is settled with the next turn. */
  responded(attemptId: string, result: HttpResult): void {
    const flight = this.#flights.get(attemptId)
    if (flight === undefined) return
    this.#flights.delete(attemptId)
    const { lane, attempt } = flight
    const schedule = lane.settings.schedule_seconds
    const settle = settlement({ attempt, result, schedule, random: this.#floor.random() })
    lane.sending -= 1
    lane.lastBusy = this.#floor.now
    this.#owe({ lane, settle })
    if (settle.disable_destination) this.#floor.drain(lane, false)
    this.ready(lane)
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
    if (turned !== undefined) return this.#committed(turn, turned)
    this.#owed.putBack(turn.settles)
    for (const { lane, delivery_id } of turn.begins.toReversed()) {
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
      if (settles.length + begins.length === 0) return
      this.#issue({ issuedAt: this.#floor.now, settles, begins })
    }
  }

  /** A turn costs the store much the same for one result as for twenty, so what is few waits for the one under way. */
  #worthATurn(): boolean {
    const waiting = this.#owed.size + this.#ready.size
    const enough = this.#turns.size === 0 ? 1 : Math.min(this.#floor.limits.turnItemsMin, this.#flights.size / 2)
    return waiting > 0 && waiting >= enough
  }

  #issue(turn: Turn): void {
    const op = this.#floor.nextOp()
    this.#turns.set(op, turn)
    const settles = turn.settles.map(({ settle }) => settle)
    const begins = turn.begins.map(({ lane, delivery_id }) => ({ lane: lane.key, fence: lane.fence, delivery_id }))
    this.#floor.emit({ type: 'turn', op, input: { settles, begins } })
  }

  #takeBegins(): Start[] {
    const { beginsPerTurnMax, requestsMax } = this.#floor.limits
    const room = Math.min(beginsPerTurnMax, requestsMax - this.#flights.size - this.#beginning)
    const begins: Start[] = []
    while (begins.length < room) {
      const lane = this.#ready.shift()
      if (lane === undefined) break
      lane.inReadyQueue = false
      const delivery_id = canBegin(lane) ? lane.buffer.shift() : undefined
      if (delivery_id === undefined) continue
      lane.beginning += 1
      begins.push({ lane, delivery_id })
      this.ready(lane)
      this.#floor.askRead(lane)
    }
    this.#beginning += begins.length
    return begins
  }

  #committed(turn: Turn, turned: Turned): void {
    const floor = this.#floor
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
    const lanes = new Map(turn.begins.map(({ lane }) => [lane.key, lane]))
    for (const attempt of turned.begun) {
      const lane = lanes.get(attempt.lane)
      if (lane !== undefined) this.#begun({ lane, attempt }, fresh)
    }
    for (const { lane } of turn.begins) {
      floor.leaveIfQuiet(lane)
      this.ready(lane)
    }
  }

  #begun(flight: Flight, fresh: boolean): void {
    const { lane, attempt } = flight
    const { alive, stopping } = this.#floor
    if (!fresh || !alive || stopping || lane.mode !== 'open') {
      return this.#owe({ lane, settle: interruption(attempt) })
    }
    lane.sending += 1
    this.#flights.set(attempt.attempt_id, flight)
    this.#floor.emit({ type: 'send', attempt, timeout_ms: lane.settings.timeout_ms })
  }

  #owe(owed: Owed): void {
    owed.lane.unsettled += 1
    this.#owed.push(owed)
  }

  #settled(lane: Lane, settle: Settle): void {
    lane.unsettled -= 1
    if (settle.next_attempt_in_ms !== null && lane.mode === 'open') {
      const dueAt = this.#floor.now + settle.next_attempt_in_ms
      lane.nextDue = Math.min(lane.nextDue ?? Infinity, dueAt)
      this.#floor.alarm(lane, dueAt)
    }
    this.#floor.leaveIfQuiet(lane)
  }

  /** A slow store must not stop delivery for good, so patience follows it up to a bound. */
  #patienceMs(): number {
    const { staleBeginMs, staleBeginMsMax } = this.#floor.limits
    return Math.min(staleBeginMsMax, Math.max(staleBeginMs, 2 * this.#lastTurnMs))
  }
}
