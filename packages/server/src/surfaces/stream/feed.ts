import type { Deps } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { contains } from '../../domain/serving/snapshot.ts'
import type { Position } from '../../domain/serving/stream-cursor.ts'
import type { Changes, Page, Refusals, StreamReader, StreamScope } from '../../resources/serving/stream/index.ts'
import { pageEnd, recordFrames, type Detail, type Dialect } from './frame.ts'
import { packed, type Parcel } from './wire.ts'

/** What one read of the feed found, packed once for all clients that want all of it. */
export type Batch = { readonly page: Page; parcel(dialect: Dialect, detail: Detail): Parcel }

/** What the feed tells from a moment on, kept until somebody is ready to hear it. */
export type Hold = { release(hear: (batch: Batch) => void): void; cancel(): void }

/** What watchers see beside the records: deliveries and rows of the rejection log, as they stand now. */
export type Sighting = { readonly deliveries: Changes['deliveries'] } | { readonly rejections: Refusals['rejections'] }

const SWEEP_MS = 1_000
/** A feed reads for a tenth of its time at most, so that however much is committed, reading it does not slow committing. */
const REST_FACTOR = 9

/**
 * The one reader of a scope in this process, for all its clients. Hints make it look at once; a look every second is the
 * truth. Whoever listens hears of every read, also of an empty one, in order.
 */
export class Feed {
  readonly #deps: Deps
  readonly #reader: StreamReader
  readonly #scope: StreamScope
  readonly #listeners = new Set<(batch: Batch) => void>()
  readonly #watchers = new Set<(sighting: Sighting) => void>()
  #ready = attempt()
  #position: Position | undefined
  /** Where watchers stand that came since the last look at what changed. */
  #joined: Position[] = []
  #watched: Position | undefined
  #refused: Position | undefined
  #reading = false
  #hinted = false
  #stopped = false
  #restUntil = 0
  #cancel: () => void = nothing

  constructor(deps: Deps, reader: StreamReader, scope: StreamScope) {
    this.#deps = deps
    this.#reader = reader
    this.#scope = scope
    this.#read()
  }

  /** Resolves when everything that commits from now on will be heard; rejects while the database does not answer. */
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

  /** Hears of deliveries and refusals from a position on, second by second as they stand; gives the function that ends it. */
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
      const page = await this.#reader.read({ scope: this.#scope, position: this.#position, live: true })
      this.#position = pageEnd(page)
      more = page.more
      const batch = batchOf(page)
      for (const hear of this.#listeners) hear(batch)
    }
    await this.#readChanges()
  }

  /** Somebody who has just come may be told again what others were told: it is told as it stands. */
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
  }
}

/** Of another history a position says nothing, and the last one that came is of the latest. */
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
  // Nobody may be waiting for it.
  made.promise.catch(nothing)
  return made
}

function nothing(): void {
  // Until there is an alarm to take back.
}
