import { Attempts, type Unsettled, type Start } from './attempts.ts'
import type { Lane } from './lane.ts'
import { LaneNotes } from './lane-notes.ts'
import type { MachineState } from './machine-state.ts'
import type { Answer, Arrival, Begin, FirstBegins, SendResult, Turned } from './ports.ts'

interface Turn {
  readonly issuedAt: number
  readonly settles: readonly Unsettled[]
  readonly begins: readonly Start[]
  /** Lanes whose memory this turn writes. */
  readonly persisted: readonly Lane[]
}

/**
 * Turns carry the work of attempts to the store: results, starts and notes. Only a few turns run at a time, so that batches
 * grow under load.
 */
export class Turns {
  readonly #state: MachineState
  readonly #notes: LaneNotes
  readonly #attempts: Attempts
  readonly #turns = new Map<number, Turn>()
  /** Commits of new deliveries that start first attempts. */
  readonly #commits = new Map<number, Turn>()
  #lastTurnMs = 0

  constructor(state: MachineState) {
    this.#state = state
    this.#notes = new LaneNotes(state)
    this.#attempts = new Attempts(state, this.#notes)
  }

  get requests(): number {
    return this.#attempts.requests
  }

  get unsettled(): number {
    return this.#attempts.unsettled
  }

  /** True when no turn, no request and no result is outstanding. */
  get quiet(): boolean {
    const unpersisted = this.#state.alive ? this.#notes.size : 0
    return (
      this.#turns.size + this.#commits.size + this.#attempts.requests + this.#attempts.unsettled + unpersisted === 0
    )
  }

  ready(lane: Lane): void {
    this.#attempts.lineUp(lane)
  }

  /** The timer fired: its rate or its breaker may allow more, and a postponed note may have waited long enough. */
  timerFired(lane: Lane): void {
    this.#attempts.lineUp(lane)
    this.#notes.timerFired(lane)
  }

  noteAll(): void {
    this.#notes.wantAll()
  }

  responded(attemptId: string, result: SendResult): void {
    this.#attempts.responded(attemptId, result)
  }

  /** Takes slots for deliveries that a commit is about to store. undefined: it starts none of them. */
  arriving(arrivals: readonly Arrival[]): FirstBegins | undefined {
    const begins = this.#mayBegin ? this.#attempts.takeArrivals(arrivals) : []
    if (begins.length === 0) return undefined
    this.#state.reached?.('arriving')
    const op = this.#state.nextOp()
    this.#commits.set(op, { issuedAt: this.#state.now, settles: [], begins, persisted: [] })
    return { op, begins: begins.map(beginOf) }
  }

  get #mayBegin(): boolean {
    const { alive, limits, stopping } = this.#state
    return alive && !stopping && this.#attempts.unsettled <= limits.unsettledMax
  }

  advance(): void {
    const { alive, limits } = this.#state
    while (this.#turns.size < limits.turnsInFlightMax && this.#worthATurn()) {
      const settles = this.#attempts.takeUnsettled()
      const begins = this.#mayBegin ? this.#attempts.takeBegins() : []
      // The next owner of a lane must not find it locked by late writes of its previous owner.
      const persisted = alive ? this.#notes.take() : []
      if (settles.length + begins.length + persisted.length === 0) return
      this.#issue({ issuedAt: this.#state.now, settles, begins, persisted })
    }
  }

  /** When results have waited long enough for others; `Infinity` when none wait, or when they wait for a turn under way. */
  get wakeAt(): number {
    const { settleAt } = this.#attempts
    return settleAt > this.#state.now ? settleAt : Infinity
  }

  /**
   * A turn costs the store almost the same for one result as for twenty. So a few results wait for the turn under way, and results
   * after which nothing starts wait for each other.
   */
  #worthATurn(): boolean {
    const { readyLanes, requests, settleAt, unsettled } = this.#attempts
    const { limits, now, stopping } = this.#state
    if (readyLanes + this.#notes.size === 0 && now < settleAt && unsettled < limits.turnItemsMin && !stopping)
      return false
    const waiting = unsettled + readyLanes + this.#notes.size
    const enough = this.#turns.size === 0 ? 1 : Math.min(limits.turnItemsMin, requests / 2)
    return waiting > 0 && waiting >= enough
  }

  #issue(turn: Turn): void {
    const op = this.#state.nextOp()
    this.#turns.set(op, turn)
    const settles = turn.settles.map(({ settle }) => settle)
    const begins = turn.begins.map(beginOf)
    if (turn.persisted.length === 0) return this.#state.emit({ type: 'turn', op, input: { settles, begins } })
    this.#state.emit({
      type: 'turn',
      op,
      input: { settles, begins, notes: this.#notes.written(turn.persisted, op) },
    })
  }

  answered(op: number, answer: Answer<Turned>): void {
    const turn = this.#turns.get(op) ?? this.#commits.get(op)
    if (turn === undefined) return
    this.#turns.delete(op)
    this.#commits.delete(op)
    this.#attempts.beginsAnswered(turn.begins)
    const turned = this.#state.valueOf(answer)
    if (turn.persisted.length > 0) this.#state.reached?.('persisted')
    for (const lane of turn.persisted) this.#persisted(lane, turned !== undefined)
    if (turned !== undefined) return this.#committed(turn, turned)
    this.#attempts.settlesFailed(turn.settles)
    this.#attempts.beginsFailed(turn.begins, answer.outcome)
  }

  #persisted(lane: Lane, done: boolean): void {
    this.#notes.answered(lane, done)
    this.#state.leaveIfQuiet(lane)
    this.#attempts.lineUp(lane)
  }

  #committed(turn: Turn, turned: Turned): void {
    const state = this.#state
    if (turned.begun.length > 0) state.reached?.('begun')
    if (turned.applied.length > 0) state.reached?.('settled')
    for (const unsettled of turn.settles) this.#attempts.settled(unsettled)
    this.#leftBehind(turned)
    const ageMs = state.now - turn.issuedAt
    const fresh = ageMs <= this.#patienceMs()
    this.#lastTurnMs = ageMs
    const starts = new Map(turn.begins.map((start) => [start.delivery_id, start]))
    for (const attempt of turned.begun) {
      const start = starts.get(attempt.delivery_id)
      if (start === undefined) continue
      this.#attempts.send(start, { attempt, ageMs, fresh })
      starts.delete(attempt.delivery_id)
    }
    for (const start of starts.values()) this.#attempts.notBegun(start)
    for (const { lane } of turn.begins) {
      state.leaveIfQuiet(lane)
      this.#attempts.lineUp(lane)
    }
  }

  /** Lanes whose starts were refused: another owner has them, or their destination is off. */
  #leftBehind({ lost, paused }: Turned): void {
    for (const held of lost) {
      const lane = this.#state.find(held)
      if (lane !== undefined) this.#state.lose(lane)
    }
    for (const held of paused) {
      const lane = this.#state.find(held)
      if (lane !== undefined) this.#state.drain(lane, false)
    }
  }

  /** A slow store must not stop delivery permanently, so the allowed age grows with it, up to a limit. */
  #patienceMs(): number {
    const { staleBeginMs, staleBeginMsMax } = this.#state.limits
    return Math.min(staleBeginMsMax, Math.max(staleBeginMs, 2 * this.#lastTurnMs))
  }
}

function beginOf({ lane, delivery_id }: Start): Begin {
  const begin = { lane: lane.key, fence: lane.fence, delivery_id }
  return lane.settings.ordered ? { ...begin, ordered: true } : begin
}
