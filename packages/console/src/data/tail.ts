import type { RouteAnswer, Routes } from '@postroad/contract'
import { readJson } from '../ui/raw-number.ts'

export type Filed = {
  readonly id: string
  readonly dataset: string
  readonly received_at: string
  readonly webhook_id?: string | null | undefined
  /** What the headers of its request call it. */
  readonly header_title?: string | null | undefined
  readonly data: unknown
}
export type Delivery = RouteAnswer<Routes['deliveries']['list']>['deliveries'][number]
export type Rejection = RouteAnswer<Routes['rejections']['list']>['rejections'][number]
/** What could not be seen while the connection was away; `backfilled` events came after it, `missed` are not kept any more. */
export type Gap = {
  readonly id: string
  readonly at: string
  readonly ms: number
  readonly backfilled: number
  readonly missed: boolean
}

/** One thing that came, in the order of coming: `number` grows by one each. */
export type Arrival = { readonly number: number } & (
  | { readonly kind: 'record'; readonly record: Filed }
  | { readonly kind: 'rejection'; readonly rejection: Rejection }
  | { readonly kind: 'gap'; readonly gap: Gap }
)

export type TailStatus = 'off' | 'connecting' | 'live' | 'lost' | 'refused'

const KEPT_MAX = 5_000
/** As many are drawn in a second; of more, every second or third. */
const DRAWN_MAX = 200
const REOPEN_MS = 3_000
/** Reasons of `closing` after which coming back at once is of no use. */
const FINAL: ReadonlySet<string> = new Set([
  'workspace_suspended',
  'workspace_closed',
  'credential_revoked',
  'stream_limit_reached',
])

/**
 * The live tail of a project: one stream, one notice to the page for each frame that is drawn, and nothing lost, for a stream
 * that comes back goes on where the last one ended. What it holds is read by `useTail`; `version` tells that it changed.
 */
export class Tail {
  version = 0
  status: TailStatus = 'off'
  /** Newest first. */
  arrivals: readonly Arrival[] = []
  /** The newest state of each delivery that was seen, by record and destination. */
  readonly deliveries = new Map<string, Map<string, Delivery>>()
  /** One of so many is drawn; 1: all. */
  oneIn = 1
  /** Records in the last whole second. */
  perSecond = 0
  lostAt: number | undefined
  why: string | undefined
  /** The first connection stands, or could not be made: what is read from now on misses nothing that the tail does not bring. */
  settled = false
  /** How often it has come back: refusals that were counted while it was away are in the log only. */
  returns = 0

  readonly #url: string
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
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  open(): void {
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
    source.addEventListener('delivery', (event) => this.#take(event, (data: Delivery) => this.noteDelivery(data)))
    source.addEventListener('rejection', (event) =>
      this.#take(event, (rejection: Rejection) => this.#push({ kind: 'rejection', rejection })),
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

  /** Ends the stream; what has come stays. Opened again, it goes on where it ended. */
  close(): void {
    clearTimeout(this.#reopen)
    this.#source?.close()
    this.#source = undefined
    this.settled = true
    this.status = 'off'
    this.#changed()
  }

  /** Does not wait until the browser comes back by itself. */
  reconnect(): void {
    this.#source?.close()
    this.#source = undefined
    this.open()
  }

  /** A delivery that was read from a list: newer states win. */
  noteDelivery(delivery: Delivery): void {
    const of = this.deliveries.get(delivery.record_id) ?? new Map<string, Delivery>()
    const known = of.get(delivery.destination_id)
    if (known === undefined || known.updated_at <= delivery.updated_at) of.set(delivery.destination_id, delivery)
    this.deliveries.set(delivery.record_id, of)
    this.#changed()
  }

  #opened(): void {
    this.settled = true
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

  /** The browser comes back by itself after a broken connection, but not after an answer that is no stream. */
  #lost(): void {
    this.settled = true
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

  /** At most so many a second are drawn: beyond that, one in as many as came too much in the second before. */
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

  /** One notice a frame; a tab in the background draws none, and is told at once. */
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

/** Newest first; of a rejection that came again, the last. */
function newestOfEach(arrivals: readonly Arrival[]): readonly Arrival[] {
  const seen = new Set<string>()
  return arrivals.toReversed().filter((one) => {
    if (one.kind !== 'rejection') return true
    const first = !seen.has(one.rejection.id)
    seen.add(one.rejection.id)
    return first
  })
}
