import type { PositionFile } from './position.ts'

/** One event to forward. `id` is its submission, which several records can share. */
export type Item = {
  readonly id: string
  readonly cursor: string | undefined
  /** Resolves with true when the event was answered; with false, the position stays before it. */
  readonly send: () => Promise<boolean>
}

type Entry = { readonly id: string | undefined; cursor: string | undefined; isDone: boolean }

/** The number of remembered submissions. One with several records is sent once, even after a crash of the database. */
const KNOWN_MAX = 20_000
/** The number of these that are stored beside the position. */
const STORED_MAX = 64
/** The number of events that were taken from the stream and wait. At the limit, the stream waits too. */
const WAITING_MAX = 256
/** The number of events since the first unanswered one. Up to it, one event in a debugger does not stop the others. */
const ROW_MAX = 1_024

/**
 * Sends several events at a time, and moves the position in their order, only past an event that is answered with all
 * earlier ones.
 */
export class Pump {
  readonly #position: Pick<PositionFile, 'save'>
  readonly #inFlightMax: number
  /** In the order of the stream, from the first one that is not answered. */
  readonly #row: Entry[] = []
  readonly #known = new Set<string>()
  #last: string[] = []
  #cursor: string | undefined
  #running = 0
  #waiting: (() => void)[] = []
  #space: (() => void)[] = []
  #stopped = false

  constructor(
    position: Pick<PositionFile, 'save'>,
    { inFlightMax, answered }: { readonly inFlightMax: number; readonly answered: readonly string[] },
  ) {
    this.#position = position
    this.#inFlightMax = inFlightMax
    this.#last = [...answered]
    for (const id of answered) this.#known.add(id)
  }

  /** The events that are under way. */
  get open(): number {
    return this.#running
  }

  /** Sends an event, unless its submission was sent. Resolves when there is space for the next one. */
  async take({ id, cursor, send }: Item): Promise<void> {
    if (this.#stopped) return
    if (this.#known.has(id)) return this.pass(cursor)
    this.#remember(id)
    const entry: Entry = { id, cursor, isDone: false }
    this.#row.push(entry)
    void this.#run(entry, send)
    while ((this.#waiting.length >= WAITING_MAX || this.#row.length >= ROW_MAX) && !this.#stopped)
      // oxlint-disable-next-line no-await-in-loop -- until there is space
      await new Promise<void>((resolve) => this.#space.push(resolve))
  }

  /** Moves past an event that is not sent. */
  pass(cursor: string | undefined): void {
    const last = this.#row.at(-1)
    if (last?.id === undefined && last !== undefined) last.cursor = cursor ?? last.cursor
    else this.#row.push({ id: undefined, cursor, isDone: true })
    this.#advance()
  }

  /** Sends nothing more, and resolves when everything under way was answered. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#waiting = []
    for (const resume of this.#space.splice(0)) resume()
    while (this.#running > 0)
      // oxlint-disable-next-line no-await-in-loop -- until nothing is under way
      await new Promise<void>((resolve) => this.#space.push(resolve))
  }

  async #run(entry: Entry, send: Item['send']): Promise<void> {
    if (this.#running >= this.#inFlightMax) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    if (await send()) {
      entry.isDone = true
      this.#advance()
    }
    const next = this.#stopped ? undefined : this.#waiting.shift()
    if (next === undefined) this.#running -= 1
    else next()
    for (const resume of this.#space.splice(0)) resume()
  }

  #advance(): void {
    let cursor: string | undefined
    let done = 0
    for (; this.#row[done]?.isDone === true; done += 1) {
      const entry = this.#row[done]
      cursor = entry?.cursor ?? cursor
      if (entry?.id !== undefined) this.#last.push(entry.id)
    }
    this.#row.splice(0, done)
    this.#last = this.#last.slice(-STORED_MAX)
    const ahead = this.#row.flatMap(({ id, isDone }) => (isDone && id !== undefined ? [id] : []))
    if (cursor !== undefined) this.#cursor = cursor
    if (this.#cursor !== undefined) this.#position.save({ cursor: this.#cursor, answered: [...this.#last, ...ahead] })
  }

  /** Stores the position at the start immediately, so that no later event is skipped. */
  begin(cursor: string): void {
    if (this.#cursor !== undefined) return
    this.#cursor = cursor
    this.#advance()
  }

  #remember(id: string): void {
    this.#known.add(id)
    if (this.#known.size <= KNOWN_MAX) return
    const [oldest] = this.#known
    if (oldest !== undefined) this.#known.delete(oldest)
  }
}
