import { setTimeout as pause } from 'node:timers/promises'
import type { RecordFrame } from '@postroad/contract'
import { follow, type Arrival } from '../follow/follow.ts'
import type { Source } from '../follow/source.ts'
import type { EventFilter } from '../filter/filter.ts'
import { forward, isAnswer, outgoingOf, type NoAnswer, type Target } from './forward.ts'
import type { Forwarded, Naming } from './heard.ts'
import type { PositionFile, Reached } from './position.ts'
import { Pump } from './pump.ts'

/** Shows the progress. Each form of output implements it. */
export type View = {
  /** An event was taken from the stream, and is being sent. */
  readonly arrived: (event: Forwarded) => void
  /** The receiver answered the event, or `listen` gave it up. */
  readonly answered: (event: Forwarded) => void
  readonly note: (note: Note) => void
  readonly close: () => void
}

export type Note =
  | { readonly kind: 'connected'; readonly again: boolean; readonly lost_ms: number }
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'gap'; readonly from: string; readonly to: string }
  /** The receiver cannot be reached, and events wait for it. */
  | { readonly kind: 'receiver_down'; readonly why: string }
  | { readonly kind: 'receiver_up' }
  | { readonly kind: 'stopping'; readonly open: number }

export type Listening = {
  readonly source: Source
  readonly target: Target
  readonly position: PositionFile
  readonly from: Reached | undefined
  readonly inFlightMax: number
  readonly count: number
  readonly endpoints: ReadonlySet<string> | undefined
  readonly meets: EventFilter['meets']
  readonly naming: Naming
  readonly view: View
}

const AGAIN_MS = 1_000
/** A receiver that disconnects without an answer may have read the event, and may disconnect because of it. */
const BREAKS_MAX = 3

/** Forwards the events of a stream until it is stopped. The next run continues at the position in the file. */
export class Listener {
  readonly #parts: Listening
  readonly #pump: Pump
  readonly #stop = new AbortController()
  readonly #force = new AbortController()
  #answered = 0
  #isDown = false

  constructor(parts: Listening) {
    this.#parts = parts
    const { inFlightMax, position, from } = parts
    this.#pump = new Pump(position, { inFlightMax, answered: from?.answered ?? [] })
  }

  /** Takes no further event, and waits for the answers under way; the second call does not wait for them. */
  readonly stop = (): void => {
    if (this.#stop.signal.aborted) return this.#force.abort()
    this.#stop.abort()
    const { open } = this.#pump
    if (open > 0) this.#parts.view.note({ kind: 'stopping', open })
    // The pump stops waiting for space.
    void this.#pump.stop()
  }

  async run(): Promise<void> {
    const { source, from, position } = this.#parts
    try {
      const at = { ...source, cursor: from?.cursor, signal: this.#stop.signal }
      for await (const arrival of follow(at)) {
        position.check()
        await this.#take(arrival)
      }
    } finally {
      // Ends the wait of an event for its receiver.
      this.#stop.abort()
      await this.#pump.stop()
      await position.close()
    }
  }

  /** Sends an event again, regardless of its answer. The position does not change. */
  async resend(event: Forwarded): Promise<void> {
    event.result = undefined
    this.#parts.view.arrived(event)
    event.sends += 1
    event.result = await forward(this.#parts.target, { ...event.out, signal: this.#force.signal })
    this.#parts.view.answered(event)
  }

  async #take(arrival: Arrival): Promise<void> {
    const { view } = this.#parts
    switch (arrival.kind) {
      case 'live':
        this.#pump.begin(arrival.cursor)
        return view.note({ kind: 'connected', again: arrival.again, lost_ms: arrival.lostMs })
      case 'lost':
      case 'gap':
        return view.note(arrival)
      case 'moved':
        return this.#pump.pass(arrival.cursor)
      case 'record':
        return this.#takeRecord(arrival.record, arrival.cursor)
      case 'delivery':
      case 'rejection':
    }
  }

  async #takeRecord(record: RecordFrame, cursor: string | undefined): Promise<void> {
    const { endpoints, meets, naming } = this.#parts
    if (endpoints?.has(record.webhook_id ?? '') === false || !meets(record)) return this.#pump.pass(cursor)
    const event = { ...naming(record), out: outgoingOf(record), result: undefined, sends: 0 }
    await this.#pump.take({ id: event.submission, cursor, send: () => this.#send(event) })
  }

  /** Sends an event until it is answered. Resolves with false when the listener stopped before the answer. */
  async #send(event: Forwarded): Promise<boolean> {
    const { view, target } = this.#parts
    view.arrived(event)
    for (let breaks = 0; ;) {
      event.sends += 1
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      const result = await forward(target, { ...event.out, signal: this.#force.signal })
      if (this.#force.signal.aborted) return false
      if (isAnswer(result)) this.#isReachable()
      else if (result.sent) breaks += 1
      if (isAnswer(result) || breaks >= BREAKS_MAX) {
        event.result = result
        this.#done(event)
        return true
      }
      this.#isUnreachable(result)
      // oxlint-disable-next-line no-await-in-loop -- the wait before the next request
      await pause(AGAIN_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined)
      if (this.#stop.signal.aborted) return false
    }
  }

  #done(event: Forwarded): void {
    const { view, count } = this.#parts
    this.#answered += 1
    view.answered(event)
    if (this.#answered === count) this.stop()
  }

  #isReachable(): void {
    if (this.#isDown) this.#parts.view.note({ kind: 'receiver_up' })
    this.#isDown = false
  }

  #isUnreachable({ error }: NoAnswer): void {
    if (!this.#isDown) this.#parts.view.note({ kind: 'receiver_down', why: error })
    this.#isDown = true
  }
}
