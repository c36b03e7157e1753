import { Fifo } from './fifo.ts'
import { memoryOf, type Lane } from './lane.ts'
import type { MachineState } from './machine-state.ts'
import type { Note } from './ports.ts'

/** Lanes with news for their next owner. The next turn or a later one writes the news. */
export class LaneNotes {
  readonly #state: MachineState
  readonly #queue = new Fifo<Lane>()

  constructor(state: MachineState) {
    this.#state = state
  }

  get size(): number {
    return this.#queue.size
  }

  /**
   * The memory of a breaker that only counts is written later. That of a breaker that changes its state goes with the next
   * turn.
   */
  want(lane: Lane, when: 'soon' | 'later'): void {
    const { now, limits, stopping } = this.#state
    const { note } = lane
    if (when === 'later' && !stopping) {
      if (note.wanted !== 'no') return
      note.wanted = 'later'
      note.at = now + limits.noteMs
      return this.#state.setTimer(lane, note.at)
    }
    note.wanted = 'soon'
    note.at = Infinity
    if (note.queued || note.writing) return
    note.queued = true
    this.#queue.push(lane)
  }

  /** The timer fired: a postponed note may have waited long enough. */
  timerFired(lane: Lane): void {
    if (lane.note.at <= this.#state.now) this.want(lane, 'soon')
  }

  /** Called before the process gives back all lanes together. */
  wantAll(): void {
    for (const lane of this.#state.lanes.values()) if (lane.note.wanted !== 'no') this.want(lane, 'soon')
  }

  /** Takes the lanes whose memory goes with the next turn. */
  take(): Lane[] {
    if (this.#queue.size === 0) return []
    const lanes = this.#queue.take(this.#queue.size)
    const mine = lanes.filter((lane) => {
      lane.note.queued = false
      return lane.mode === 'open' || lane.mode === 'draining'
    })
    for (const { note } of mine) {
      note.writing = true
      note.wanted = 'no'
    }
    return mine
  }

  /** The notes that the turn writes for these lanes. */
  written(lanes: readonly Lane[], serial: number): Note[] {
    return lanes.map((lane) => ({
      lane: lane.key,
      fence: lane.fence,
      serial,
      memory: memoryOf(lane, this.#state.now),
    }))
  }

  /** The store has answered the turn of this lane's note. */
  answered(lane: Lane, done: boolean): void {
    lane.note.writing = false
    if (!done || lane.note.wanted === 'soon') this.want(lane, 'soon')
  }
}
