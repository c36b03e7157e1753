import type { RouteAnswer, Routes } from '@postroad/contract'
import { heldBy, type HeldBy } from '@postroad/contract/holds'
import { readJson } from '@postroad/contract/raw-number'

type Holds = RouteAnswer<Routes['deliveryHolds']['list']>
type DeliveryHold = Holds['holds'][number]

export type Filed = {
  readonly id: string
  readonly dataset: string
  readonly received_at: string
  readonly webhook_id?: string | null | undefined
  /** Its title, from the headers of its request. */
  readonly header_title?: string | null | undefined
  readonly data: unknown
}
export type Delivery = RouteAnswer<Routes['deliveries']['replay']>['delivery']
/** A delivery together with its event, as a list returns it. */
export type ListedDelivery = RouteAnswer<Routes['deliveries']['list']>['deliveries'][number]
/** A delivery as a frame or a list returns it. */
export type SeenDelivery = Omit<Delivery, 'held_by'> & { readonly held_by?: HeldBy | null }
export type Rejection = RouteAnswer<Routes['rejections']['list']>['rejections'][number]
/** A gap in the connection. `backfilled` events of it arrived later; with `missed`, they are no longer stored. */
export type Gap = {
  readonly id: string
  readonly at: string
  readonly ms: number
  readonly backfilled: number
  readonly missed: boolean
}

/** One arrival; `number` grows by one with each. */
export type Arrival = { readonly number: number } & (
  | { readonly kind: 'record'; readonly record: Filed }
  | { readonly kind: 'rejection'; readonly rejection: Rejection }
  | { readonly kind: 'gap'; readonly gap: Gap }
)

export type TailStatus = 'off' | 'connecting' | 'live' | 'lost' | 'refused'

const KEPT_MAX = 5_000
/** The tail knows deliveries of at most this many events: arrivals, retries, and pages that were read. */
const KNOWN_MAX = 4 * KEPT_MAX
/** The most arrivals that the page draws in a second. Of more, it draws every second or third one. */
const DRAWN_MAX = 200
const REOPEN_MS = 3_000
/** After these reasons of `closing` an immediate reconnect does not help. */
const FINAL: ReadonlySet<string> = new Set([
  'workspace_suspended',
  'workspace_closed',
  'credential_revoked',
  'stream_limit_reached',
])

/**
 * The live tail of a project: one stream, and one notice to the page for each frame that is drawn. Nothing is lost, because a stream
 * that reconnects continues where the last one ended. `useTail` reads its content; `version` changes with it.
 */
export class Tail {
  version = 0
  status: TailStatus = 'off'
  /** Newest first. */
  arrivals: readonly Arrival[] = []
  /** The newest known state of each delivery, by record and destination. */
  readonly deliveries = new Map<string, Map<string, SeenDelivery>>()
  /** The page draws one arrival in this many; 1 means all. */
  oneIn = 1
  /** Records in the last whole second. */
  perSecond = 0
  lostAt: number | undefined
  why: string | undefined
  /** Resolves when the first connection is open or has failed. From then on, a list and the tail together miss nothing. */
  readonly settled: Promise<void>
  /** The number of reconnects. Requests that were refused without a connection are only in the log. */
  returns = 0

  /** The answer of `delivery-holds` that the stream sent last; undefined: none since it opened. */
  heard: Holds | undefined

  #holds: ReadonlyMap<string, HeldBy> = new Map()
  readonly #url: string
  readonly #settle: () => void
  #hasBegun = false
  readonly #listeners = new Set<() => void>()
  #source: EventSource | undefined
  #cursor: string | undefined
  #number = 0
  #waiting: Arrival[] = []
  #drawing = false
  #second = { at: 0, came: 0, drawn: 0 }
  #backfill: { readonly until: number; readonly lostMs: number; count: number } | undefined
  #reopen: ReturnType<typeof setTimeout> | undefined

  constructor(projectId: string) {
    this.#url = `/admin/api/projects/${encodeURIComponent(projectId)}/stream`
    const first = Promise.withResolvers<void>()
    this.settled = first.promise
    this.#settle = first.resolve
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Opens the stream if it was never open. A tail that a person paused stays paused. */
  begin(): void {
    if (!this.#hasBegun) this.open()
  }

  open(): void {
    this.#hasBegun = true
    if (this.#source !== undefined) return
    this.status = this.lostAt === undefined ? 'connecting' : 'lost'
    this.why = undefined
    const source = new EventSource(
      this.#cursor === undefined ? this.#url : `${this.#url}?after=${encodeURIComponent(this.#cursor)}`,
    )
    this.#source = source
    source.addEventListener('open', () => this.#opened())
    source.addEventListener('error', () => this.#lost())
    source.addEventListener('record', (event) => this.#take(event, (data: Filed) => this.#record(data)))
    source.addEventListener('delivery', (event) => this.#take(event, (data: SeenDelivery) => this.noteDelivery(data)))
    source.addEventListener('rejection', (event) =>
      this.#take(event, (rejection: Rejection) => this.#push({ kind: 'rejection', rejection })),
    )
    source.addEventListener('holds', (event) =>
      this.#take(event, (heard: Holds) => {
        this.heard = heard
        this.#changed()
      }),
    )
    source.addEventListener('gap', (event) =>
      this.#take(event, (data: { from: string; to: string }) =>
        this.#push({
          kind: 'gap',
          gap: {
            id: `gap-${data.to}`,
            at: data.to,
            ms: Date.parse(data.to) - Date.parse(data.from),
            backfilled: 0,
            missed: true,
          },
        }),
      ),
    )
    source.addEventListener('closing', (event) =>
      this.#take(event, ({ reason }: { reason: string }) => this.#closing(reason)),
    )
    this.#changed()
  }

  /** Ends the stream and leaves the arrivals. The next stream continues where this one ended. */
  close(): void {
    clearTimeout(this.#reopen)
    this.#source?.close()
    this.#source = undefined
    this.#settle()
    this.status = 'off'
    this.#changed()
  }

  /** Reconnects now instead of waiting for the browser to do it. */
  reconnect(): void {
    this.#source?.close()
    this.#source = undefined
    this.open()
  }

  /** The destinations that hold deliveries back now. */
  setHolds(holds: readonly DeliveryHold[]): void {
    this.#holds = new Map(holds.map((hold) => [hold.destination_id, { ...hold, behind: null }]))
    this.#changed()
  }

  /** A delivery with the reason that holds it back now. */
  withHold(delivery: SeenDelivery): Delivery {
    const hold = this.#holds.get(delivery.destination_id)
    const held = heldBy(delivery, { hold: hold?.cause === 'order' ? undefined : hold, now: Date.now() })
    // Only the server knows which delivery comes first in its order.
    const inOrder = delivery.held_by?.cause === 'order' ? delivery.held_by : null
    return { ...delivery, held_by: held ?? inOrder }
  }

  /** Takes in a delivery that was read from a list; the newer state wins. */
  noteDelivery(delivery: SeenDelivery): void {
    const of = this.deliveries.get(delivery.record_id) ?? new Map<string, SeenDelivery>()
    const known = of.get(delivery.destination_id)
    if (known === undefined || known.updated_at <= delivery.updated_at) of.set(delivery.destination_id, delivery)
    this.deliveries.set(delivery.record_id, of)
    if (this.deliveries.size > KNOWN_MAX) this.#forgetOldest()
    this.#changed()
  }

  #forgetOldest(): void {
    for (const recordId of this.deliveries.keys()) {
      this.deliveries.delete(recordId)
      return
    }
  }

  #opened(): void {
    this.#settle()
    const now = Date.now()
    if (this.lostAt !== undefined) {
      this.#backfill = { until: now, lostMs: now - this.lostAt, count: 0 }
      this.returns += 1
    }
    this.lostAt = undefined
    this.status = 'live'
    if (this.#backfill !== undefined) this.#push({ kind: 'gap', gap: this.#gapNow() })
    this.#changed()
  }

  /** The browser reconnects by itself after a broken connection, but not after an answer that is not a stream. */
  #lost(): void {
    this.#settle()
    this.lostAt ??= Date.now()
    this.status = 'lost'
    if (this.#source?.readyState === EventSource.CLOSED) {
      this.#source = undefined
      clearTimeout(this.#reopen)
      this.#reopen = setTimeout(() => this.open(), REOPEN_MS)
    }
    this.#changed()
  }

  #closing(reason: string): void {
    if (!FINAL.has(reason)) return
    this.#source?.close()
    this.#source = undefined
    this.status = 'refused'
    this.why = reason
    this.#changed()
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it types the reader that is passed in, frame by frame
  #take<T>(event: Event, use: (data: T) => void): void {
    if (!(event instanceof MessageEvent) || typeof event.data !== 'string') return
    if (event.lastEventId !== '') this.#cursor = event.lastEventId
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a frame of our own server, in the shape of the contract
    use(readJson(event.data) as T)
  }

  #record(record: Filed): void {
    this.#second.came += 1
    const backfill = this.#backfill
    if (backfill !== undefined && Date.parse(record.received_at) <= backfill.until) {
      backfill.count += 1
      this.#recount()
    }
    if (this.#isDrawn()) this.#push({ kind: 'record', record })
    else this.#changed()
  }

  /** The page draws at most DRAWN_MAX a second, and then one in `oneIn`, by the count of the previous second. */
  #isDrawn(): boolean {
    const at = Math.floor(Date.now() / 1_000)
    if (this.#second.at !== at) {
      this.perSecond = this.#second.at === at - 1 ? this.#second.came - 1 : 0
      this.oneIn = Math.max(1, Math.ceil(this.perSecond / DRAWN_MAX))
      this.#second = { at, came: 1, drawn: 0 }
    }
    if (this.#second.drawn >= DRAWN_MAX || this.#second.came % this.oneIn !== 0) {
      this.oneIn = Math.max(2, this.oneIn)
      return false
    }
    this.#second.drawn += 1
    return true
  }

  #gapNow(): Gap {
    const { until = 0, lostMs = 0, count = 0 } = this.#backfill ?? {}
    return { id: `gap-${until}`, at: new Date(until).toISOString(), ms: lostMs, backfilled: count, missed: false }
  }

  #recount(): void {
    const gap = this.#gapNow()
    const renew = (one: Arrival): Arrival => (one.kind === 'gap' && one.gap.id === gap.id ? { ...one, gap } : one)
    this.#waiting = this.#waiting.map(renew)
    this.arrivals = this.arrivals.map(renew)
  }

  #push(
    what: { kind: 'record'; record: Filed } | { kind: 'rejection'; rejection: Rejection } | { kind: 'gap'; gap: Gap },
  ): void {
    this.#number += 1
    this.#waiting.push({ number: this.#number, ...what })
    this.#changed()
  }

  /** One notice a frame. A tab in the background draws no frame, so its notice does not wait for one. */
  #changed(): void {
    if (this.#drawing) return
    this.#drawing = true
    const draw = (): void => {
      this.#drawing = false
      this.#flush()
    }
    if (document.hidden) setTimeout(draw)
    else requestAnimationFrame(draw)
  }

  #flush(): void {
    if (this.#waiting.length > 0) {
      const again = new Set(this.#waiting.flatMap((one) => (one.kind === 'rejection' ? [one.rejection.id] : [])))
      const before =
        again.size === 0
          ? this.arrivals
          : this.arrivals.filter((one) => one.kind !== 'rejection' || !again.has(one.rejection.id))
      const news = newestOfEach(this.#waiting)
      this.#waiting = []
      for (const gone of before.slice(KEPT_MAX - news.length))
        if (gone.kind === 'record') this.deliveries.delete(gone.record.id)
      this.arrivals = [...news, ...before].slice(0, KEPT_MAX)
    }
    this.version += 1
    for (const listener of this.#listeners) listener()
  }
}

/** Newest first; with only the last one of a repeated rejection. */
function newestOfEach(arrivals: readonly Arrival[]): readonly Arrival[] {
  const seen = new Set<string>()
  return arrivals.toReversed().filter((one) => {
    if (one.kind !== 'rejection') return true
    const first = !seen.has(one.rejection.id)
    seen.add(one.rejection.id)
    return first
  })
}
