import { setTimeout as pause } from 'node:timers/promises'
import type { RecordFrame, Rejection, RouteAnswer, Routes, StreamFrameType } from '@postroad/contract'
import { readJson } from '@postroad/contract/raw-number'
import { blocksOf } from './blocks.ts'

type Delivery = RouteAnswer<Routes['deliveries']['replay']>['delivery']

/** One arrival. `cursor` is the position after it. */
export type Arrival =
  | { readonly kind: 'record'; readonly cursor: string | undefined; readonly record: RecordFrame }
  | { readonly kind: 'delivery'; readonly delivery: Delivery }
  | { readonly kind: 'rejection'; readonly rejection: Rejection }
  | { readonly kind: 'gap'; readonly from: string; readonly to: string }
  /** The stream has moved on without an event. */
  | { readonly kind: 'moved'; readonly cursor: string }
  | { readonly kind: 'live'; readonly cursor: string; readonly again: boolean; readonly lostMs: number }
  | { readonly kind: 'lost'; readonly why: string }

export type Following = {
  /** Opens the stream after a cursor; undefined: where the server starts it. Throws a refusal. */
  readonly open: (cursor: string | undefined, signal: AbortSignal) => Promise<Response>
  /** The sentence for a failure to open that another attempt can fix; undefined if no attempt can. */
  readonly retryable: (error: unknown) => string | undefined
  readonly cursor: string | undefined
  readonly signal: AbortSignal
}

/** The server sends something every 15 s. After three silent intervals the connection is dead, even if it is open. */
const BEAT_MS = 15_000
const BEATS_MISSED_MAX = 3
const WAITS_MS = [100, 250, 500, 1_000, 2_000, 3_000] as const

type Place = { cursor: string | undefined; lostAt: number | undefined; failures: number }

/**
 * Follows a stream forever. Each connection continues after the last event of the previous one, so nothing is lost and
 * nothing arrives twice. It reads no faster than its caller takes.
 */
export async function* follow({ open, retryable, cursor, signal }: Following): AsyncGenerator<Arrival> {
  const at: Place = { cursor, lostAt: undefined, failures: 0 }
  while (!signal.aborted) {
    const line = new Line(signal)
    let why: string | undefined
    try {
      why = yield* connection(line, open, at)
    } catch (error) {
      if (signal.aborted) return
      why = line.isDead ? 'nothing arrived for 45 seconds' : retryable(error)
      if (why === undefined) throw error
    } finally {
      line.end()
    }
    if (at.lostAt === undefined) yield { kind: 'lost', why }
    at.lostAt ??= Date.now()
    const wait = WAITS_MS[Math.min(at.failures, WAITS_MS.length - 1)]
    at.failures += 1
    // oxlint-disable-next-line no-await-in-loop -- the wait before the next connection
    await pause(wait, undefined, { signal }).catch(() => undefined)
  }
}

/** One connection, to its end. Returns why it ended. */
async function* connection(line: Line, open: Following['open'], at: Place): AsyncGenerator<Arrival, string> {
  const response = await open(at.cursor, line.signal)
  at.cursor ??= response.headers.get('Stream-Cursor') ?? undefined
  const { lostAt, cursor = '' } = at
  yield { kind: 'live', cursor, again: lostAt !== undefined, lostMs: Date.now() - (lostAt ?? Date.now()) }
  at.failures = 0
  at.lostAt = undefined
  let why = 'the connection ended'
  for await (const block of blocksOf(line.chunks(response))) {
    at.cursor = block.id ?? at.cursor
    if (block.event === 'closing') why = closingText(block.data)
    else yield* arrivalsOf(block)
  }
  return why
}

/** One connection, which ends when its caller does, or when nothing arrives for too long. */
class Line {
  readonly #end = new AbortController()
  readonly #watch: NodeJS.Timeout
  #missed = 0
  #waiting = true
  isDead = false
  readonly signal: AbortSignal

  constructor(outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.#end.signal])
    // Counts intervals, because a process that was stopped for an hour gets only one late tick.
    this.#watch = setInterval(() => this.#beat(), BEAT_MS)
    this.#watch.unref()
  }

  #beat(): void {
    if (!this.#waiting) return
    this.#missed += 1
    if (this.#missed <= BEATS_MISSED_MAX) return
    this.isDead = true
    this.#end.abort()
  }

  async *chunks({ body }: Response): AsyncGenerator<string> {
    if (body === null) return
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    try {
      for (;;) {
        this.#waiting = true
        // oxlint-disable-next-line no-await-in-loop -- one piece after the other
        const { done, value } = await reader.read()
        this.#waiting = false
        this.#missed = 0
        if (done) return
        yield value
      }
    } finally {
      await reader.cancel().catch(() => undefined)
    }
  }

  end(): void {
    clearInterval(this.#watch)
    this.#end.abort()
  }
}

type Block = { readonly id: string | undefined; readonly event: string; readonly data: string | undefined }

function* arrivalsOf({ id, event, data }: Block): Generator<Arrival> {
  if (data === undefined) {
    if (id !== undefined) yield { kind: 'moved', cursor: id }
    return
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server of a newer version can send events that this one does not know
  const type = event as StreamFrameType
  const value = readJson(data)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tests prove that the server sends the frames of the contract
  const frame = value as never
  if (type === 'record') yield { kind: 'record', cursor: id, record: frame }
  else if (type === 'delivery') yield { kind: 'delivery', delivery: frame }
  else if (type === 'rejection') yield { kind: 'rejection', rejection: frame }
  else if (type === 'gap') yield { kind: 'gap', ...(frame as { from: string; to: string }) }
}

const CLOSINGS: Readonly<Record<string, string>> = {
  shutdown: 'the server stopped',
  slow: 'the server sent faster than this machine read',
  unavailable: 'the server could not read its database',
}

function closingText(data = '{}'): string {
  const { reason = '' }: { reason?: string } = JSON.parse(data)
  return CLOSINGS[reason] ?? reason.replaceAll('_', ' ')
}
