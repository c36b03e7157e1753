import type { CloseReason, GapFrame } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { contains, sees, type Snapshot } from '../../domain/serving/snapshot.ts'
import { encodePosition, type Position } from '../../domain/serving/stream-cursor.ts'
import type { Page, StreamReader, StreamRow, StreamScope } from '../../resources/serving/stream/index.ts'
import type { Batch, Feed, Hold, Sighting } from './feed.ts'
import { pageEnd, recordFrames, type Detail, type Frame } from './frame.ts'
import { packed, type Wire } from './wire.ts'

const BACKLOG_BYTES_MAX = 1_048_576
const STALL_MS = 60_000
const DAY_MS = 86_400_000
const BEAT_MS = { server_sent_events: 15_000, web_socket: 30_000 } as const

export type Tail = {
  readonly scope: StreamScope
  /** The position after which the client gets everything, or `now`. */
  readonly from: Position | 'now'
  readonly datasets: ReadonlySet<string> | undefined
  /** Whether the client also gets the senders of records, and, after it has caught up, deliveries and refusals. */
  readonly sightings: boolean
  /** Whether records come with their senders and their requests as received. */
  readonly requests: boolean
  /** The reason why the client may no longer stay; undefined while it may stay. */
  readonly closeReason: () => CloseReason | undefined | Promise<CloseReason | undefined>
}

type Parts = { readonly deps: Deps; readonly reader: StreamReader; readonly feed: Feed; readonly wire: Wire }
/** `hold` started before `position` was read, so a client that starts there now misses nothing. */
export type Start = { readonly position: Position; readonly hold: Hold }

/**
 * One client. It reads pages from storage at its pace until it has caught up, and then joins the feed without a gap or a repetition.
 * From then on it follows the feed or is cut off.
 */
export class Session {
  readonly #parts: Parts
  readonly tail: Tail
  #position: Position
  /** The state of the client when it joined the feed. The feed may reach that state a little later. */
  #joined: { readonly snapshot: Snapshot; readonly floor: number; readonly history: string } | undefined
  #said: string
  #beatAt: number
  #closed = false
  #hold: Hold
  #unwatch: () => void = () => undefined

  constructor(parts: Parts, tail: Tail, { position, hold }: Start) {
    this.#parts = parts
    this.tail = tail
    this.#hold = hold
    this.#position = position
    this.#said = encodePosition(position)
    this.#beatAt = parts.deps.clock.now() + BEAT_MS[parts.wire.dialect]
  }

  get #detail(): Detail {
    if (this.tail.requests) return 'request'
    return this.tail.sightings ? 'sender' : 'envelope'
  }

  get wire(): Wire {
    return this.#parts.wire
  }

  /** Resolves when the connection has ended. */
  async run(): Promise<void> {
    const { wire, deps } = this.#parts
    const over = new Promise<void>((resolve) => {
      if (wire.gone.aborted) resolve()
      else wire.gone.addEventListener('abort', () => resolve(), { once: true })
    })
    try {
      if (this.tail.from === 'now') this.#join(this.#position)
      else await Promise.race([over, this.#catchUp()])
    } catch (cause) {
      deps.log.warn('stream.broken', { cause })
      this.close('unavailable')
    }
    await over
    this.#part()
  }

  /** Sends a keepalive when it is due. */
  beat(now: number): void {
    const { wire } = this.#parts
    if (now < this.#beatAt || this.#ended()) return
    this.#beatAt = now + BEAT_MS[wire.dialect]
    const cursor = encodePosition(this.#position)
    wire.beat(cursor === this.#said ? undefined : cursor)
    this.#said = cursor
  }

  close(reason: CloseReason): void {
    this.#part()
    if (this.#ended()) return
    this.#closed = true
    this.wire.close(reason)
  }

  #part(): void {
    this.#hold.cancel()
    this.#unwatch()
  }

  #see(sighting: Sighting): void {
    if (this.#ended() || this.#isSlow()) return
    const cursor = encodePosition(this.#position)
    const frames = sightingFrames(sighting, { cursor, datasets: this.tail.datasets })
    this.wire.write(packed(this.wire.dialect, frames))
    if (frames.length > 0) this.#said = cursor
  }

  /** Reports dropped records as a gap. Records are dropped by the day, so a position of the last 24 hours has none. */
  async #sayGap(): Promise<void> {
    const { deps, reader, wire } = this.#parts
    const { floor } = this.#position
    if (floor > deps.clock.now() - DAY_MS) return
    const retainedSince = await reader.retainedSince(this.tail.scope.workspaceId)
    if (retainedSince === undefined || floor >= retainedSince) return
    const gap: GapFrame = {
      from: new Date(floor).toISOString(),
      to: new Date(retainedSince).toISOString(),
      missed: null,
    }
    wire.write(packed(wire.dialect, [{ type: 'gap', cursor: this.#said, json: JSON.stringify(gap) }]))
  }

  async #catchUp(): Promise<void> {
    const { scope, datasets, requests } = this.tail
    const { reader, feed } = this.#parts
    await this.#sayGap()
    while (!this.#ended()) {
      const whole = this.#position.partway === undefined
      // oxlint-disable-next-line no-await-in-loop -- one page after another, each after the client took the previous one
      const page = await reader.read({
        scope,
        position: this.#position,
        datasets: datasets && [...datasets],
        requests,
      })
      if (this.#ended()) return
      this.#send(page, () => true)
      // Only a complete read that started after the buffering overlaps with the feed.
      if (whole && !page.more) return this.#join({ history: page.history, from: page.to, floor: page.toFloor })
      this.#hold.cancel()
      // oxlint-disable-next-line no-await-in-loop -- as above
      await this.#taken()
      this.#hold = feed.hold()
    }
  }

  /** From here on the client reads the feed. It already has everything that `at.from` sees. */
  #join(at: Position): void {
    this.#joined = { snapshot: at.from, floor: at.floor, history: at.history }
    this.#hold.release((batch) => this.#hear(batch))
    if (this.tail.sightings && !this.#ended())
      this.#unwatch = this.#parts.feed.watch(at, (sighting) => this.#see(sighting))
  }

  /** Waits until the client has taken what it got. Cuts off a client that takes nothing for a minute. */
  async #taken(): Promise<void> {
    const { deps, wire } = this.#parts
    const cancel = deps.clock.wakeAt(deps.clock.now() + STALL_MS, () => this.close('slow'))
    await wire.flushed()
    cancel()
  }

  #ended(): boolean {
    return this.#closed || this.wire.gone.aborted
  }

  /** Cuts off a client that does not keep up. */
  #isSlow(): boolean {
    if (this.wire.backlogBytes() <= BACKLOG_BYTES_MAX) return false
    this.close('slow')
    return true
  }

  #hear(batch: Batch): void {
    if (this.#ended() || this.#isSlow()) return
    const { page } = batch
    const joined = this.#joined
    if (joined === undefined || joined.history !== page.history || contains(page.from, joined.snapshot)) {
      this.#joined = undefined
      return this.#pass(batch)
    }
    // The client already has all of this page, or the part of it that it saw when it joined.
    if (contains(joined.snapshot, page.to)) return
    this.#send({ ...page, from: joined.snapshot, floor: joined.floor }, (row) => !sees(joined.snapshot, row.xid))
  }

  #pass(batch: Batch): void {
    if (this.tail.datasets !== undefined) return this.#send(batch.page, () => true)
    this.#moved(batch.page)
    if (batch.page.rows.length === 0) return
    this.wire.write(batch.parcel(this.wire.dialect, this.#detail))
    this.#said = encodePosition(this.#position)
  }

  #send(page: Page, isNew: (row: StreamRow) => boolean): void {
    const { datasets } = this.tail
    const frames = recordFrames(page, {
      wanted: (row) => isNew(row) && (datasets === undefined || datasets.has(row.dataset)),
      detail: this.#detail,
    })
    this.#moved(page)
    this.wire.write(packed(this.wire.dialect, frames))
    this.#said = frames.at(-1)?.cursor ?? this.#said
  }

  #moved(page: Page): void {
    this.#position = pageEnd(page)
  }
}

/** A rejected request belongs to no dataset, so a client that filters by dataset gets none. */
function sightingFrames(
  sighting: Sighting,
  at: { readonly cursor: string; readonly datasets: ReadonlySet<string> | undefined },
): readonly Frame[] {
  const { cursor, datasets } = at
  if ('holds' in sighting) return [{ type: 'holds', cursor, json: JSON.stringify(sighting.holds) }]
  if ('rejections' in sighting) {
    if (datasets !== undefined) return []
    return sighting.rejections.map((rejection) => ({ type: 'rejection', cursor, json: JSON.stringify(rejection) }))
  }
  const seen = sighting.deliveries.filter((delivery) => datasets?.has(delivery.dataset) !== false)
  return seen.map((delivery) => ({ type: 'delivery', cursor, json: JSON.stringify(delivery) }))
}
