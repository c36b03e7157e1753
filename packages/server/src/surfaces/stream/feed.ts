import type { Deps } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { contains } from '../../domain/serving/snapshot.ts'
import type { Position } from '../../domain/serving/stream-cursor.ts'
import type { Changes, Holds, Page, Refusals, StreamReader, StreamScope } from '../../resources/serving/stream/index.ts'
import { pageEnd, recordFrames, type Detail, type Dialect } from './frame.ts'
import { packed, type Parcel } from './wire.ts'

/** The result of one read of the feed, packed once for all clients that want all of it. */
export type Batch = { readonly page: Page; parcel(dialect: Dialect, detail: Detail): Parcel }

/** The events of the feed from a moment on, buffered until a listener is ready for them. */
export type Hold = { release(hear: (batch: Batch) => void): void; cancel(): void }

/** The events that watchers get besides records: deliveries, rows of the rejection log, and what holds deliveries back, in their current state. */
export type Sighting =
  | { readonly deliveries: Changes['deliveries'] }
  | { readonly rejections: Refusals['rejections'] }
  | { readonly holds: Holds }

const NO_HOLDS = JSON.stringify({ holds: [], truncated: false } satisfies Holds)

const SWEEP_MS = 1_000
/** A feed reads for at most a tenth of the time, so that its reads never slow commits down, however many there are. */
const REST_FACTOR = 9

/**
 * The only reader of a scope in this process, for all its clients. A hint makes it read immediately; a read every
 * second makes sure that nothing is missed. Every listener gets every read in order, even an empty one.
 */
export class Feed {
  readonly #deps: Deps
  readonly #reader: StreamReader
  readonly #scope: StreamScope
  readonly #requests: boolean
  readonly #listeners = new Set<(batch: Batch) => void>()
  readonly #watchers = new Set<(sighting: Sighting) => void>()
  #ready = attempt()
  #position: Position | undefined
  /** The positions of the watchers that joined since the last read of changes. */
  #joined: Position[] = []
  #watched: Position | undefined
  #refused: Position | undefined
  /** The answer of `GET delivery-holds` that watchers know, and the time of the next read. */
  #holds = NO_HOLDS
  #holdsAt = 0
  #reading = false
  #hinted = false
  #stopped = false
  #restUntil = 0
  #cancel: () => void = nothing

  constructor(deps: Deps, reader: StreamReader, { scope, requests }: { scope: StreamScope; requests: boolean }) {
    this.#deps = deps
    this.#reader = reader
    this.#scope = scope
    this.#requests = requests
    this.#read()
  }

  /** Resolves when listeners will get everything that commits from now on; rejects while the database does not answer. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  hold(): Hold {
    const held: Batch[] = []
    let hear = (batch: Batch): void => void held.push(batch)
    const listener = (batch: Batch): void => hear(batch)
    this.#listeners.add(listener)
    return {
      release: (to) => {
        hear = to
        for (const batch of held.splice(0)) to(batch)
      },
      cancel: () => this.#listeners.delete(listener),
    }
  }

  /** Passes on deliveries and refusals from a position on, every second in their current state. Returns the function that ends it. */
  watch(since: Position, see: (sighting: Sighting) => void): () => void {
    this.#watchers.add(see)
    this.#joined.push(since)
    this.hint()
    return () => this.#watchers.delete(see)
  }

  hint(): void {
    this.#hinted = true
    this.#look()
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
    this.#ready.reject(refuse('overloaded'))
  }

  #look(): void {
    if (this.#reading || this.#stopped) return
    this.#cancel()
    const now = this.#deps.clock.now()
    const at = this.#hinted ? this.#restUntil : Math.max(this.#restUntil, now + SWEEP_MS)
    if (at <= now) this.#read()
    else this.#cancel = this.#deps.clock.wakeAt(at, () => this.#read())
  }

  #read(): void {
    if (this.#reading || this.#stopped) return
    this.#reading = true
    this.#hinted = false
    const began = this.#deps.clock.now()
    void this.#readOn()
      .catch((cause: unknown) => {
        if (!this.#stopped) this.#deps.retryLog.warn('stream.not_read', { cause })
        if (this.#position !== undefined) return
        this.#ready.reject(cause)
        this.#ready = attempt()
      })
      .finally(() => {
        this.#reading = false
        const now = this.#deps.clock.now()
        this.#restUntil = now + Math.min((now - began) * REST_FACTOR, SWEEP_MS)
        this.#look()
      })
  }

  async #readOn(): Promise<void> {
    if (this.#position === undefined) {
      this.#position = await this.#reader.now()
      this.#ready.resolve()
      return
    }
    for (let more = true; more && !this.#stopped;) {
      // oxlint-disable-next-line no-await-in-loop -- page after page of one read
      const page = await this.#reader.read({
        scope: this.#scope,
        position: this.#position,
        requests: this.#requests,
        live: true,
      })
      this.#position = pageEnd(page)
      more = page.more
      const batch = batchOf(page)
      for (const hear of this.#listeners) hear(batch)
    }
    await this.#readChanges()
  }

  /** The read goes back for watchers that have just joined, so other watchers may get a change twice, in its current state. */
  async #readChanges(): Promise<void> {
    const joined = this.#joined.splice(0)
    if (this.#watchers.size === 0) {
      this.#watched = undefined
      this.#refused = undefined
      return
    }
    this.#watched = joined.reduce(earlier, this.#watched)
    this.#refused = joined.reduce(earlier, this.#refused)
    if (this.#watched === undefined || this.#refused === undefined) return
    for (let more = true; more && !this.#stopped;) {
      // oxlint-disable-next-line no-await-in-loop -- page after page of one read
      const changes = await this.#reader.changes({ scope: this.#scope, position: this.#watched })
      this.#watched = changes.position
      more = changes.more
      if (changes.deliveries.length > 0) for (const see of this.#watchers) see(changes)
    }
    const refusals = await this.#reader.refusals({ scope: this.#scope, position: this.#refused })
    this.#refused = refusals.position
    if (refusals.rejections.length > 0) for (const see of this.#watchers) see(refusals)
    if (joined.length > 0) {
      this.#holds = NO_HOLDS
      this.#holdsAt = 0
    }
    await this.#readHolds()
  }

  /** The answer of `GET delivery-holds` changes with time alone, so it is read once a second. */
  async #readHolds(): Promise<void> {
    const { workspaceId, projectId } = this.#scope
    const now = this.#deps.clock.now()
    if (projectId === null || now < this.#holdsAt) return
    this.#holdsAt = now + SWEEP_MS
    const holds = await this.#reader.holds({ workspaceId, projectId })
    const text = JSON.stringify(holds)
    if (text === this.#holds) return
    this.#holds = text
    for (const see of this.#watchers) see({ holds })
  }
}

/** Positions of different histories cannot be compared, so the last one to join counts: its history is the latest. */
function earlier(known: Position | undefined, joined: Position): Position {
  return known !== undefined && known.history === joined.history && contains(joined.from, known.from) ? known : joined
}

function batchOf(page: Page): Batch {
  const parcels = new Map<string, Parcel>()
  return {
    page,
    parcel: (dialect, detail) => {
      const key = `${dialect} ${detail}`
      const known = parcels.get(key)
      if (known !== undefined) return known
      const parcel = packed(dialect, recordFrames(page, { wanted: () => true, detail }))
      parcels.set(key, parcel)
      return parcel
    },
  }
}

function attempt(): PromiseWithResolvers<void> {
  const made = Promise.withResolvers<void>()
  // Prevents an unhandled rejection when nobody waits for it.
  made.promise.catch(nothing)
  return made
}

function nothing(): void {
  // There is no timer to cancel yet.
}
