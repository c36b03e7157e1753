import type { Dispatcher } from 'undici'
import { bodyText } from './body-text.ts'
import { reasonOf } from './failure.ts'
import type { OutboundFailureCode, OutboundRequest, OutboundResult } from './request.ts'
import { HeadTooLong } from './response-heads.ts'

type Settled = (result: OutboundResult | Promise<OutboundResult>, keep: boolean) => void
type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

const READ_BYTES_MAX = 64 * 1024
const KEPT_BYTES_DEFAULT = 16 * 1024
const HEADERS_MAX = 100
const HEADER_BYTES_MAX = 16 * 1024
const HEADERS_CUT = 'Only the first 16 KiB and 100 lines of the response headers are stored.'
const HEADERS_UNREAD = 'The response headers are longer than 64 KiB, so none of them are stored.'
const IN_FLIGHT_DEFAULT = 10

/**
 * One request from the call to its result. The first result counts; later events are ignored. Once the head is complete the
 * result is a response, whatever happens to its body: the status is the receiver's answer, and another request would repeat it.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly lane: string
  readonly inFlightMax: number
  readonly deadlineAt: number
  readonly #keptMax: number
  readonly #bodyAs: 'text' | 'latin1'
  dispatched: Dispatcher.DispatchOptions = { path: '/', method: 'POST' }
  /** Whether a connection carries it. */
  carried = false
  readonly #startedAt = performance.now()
  readonly #onSettled: Settled
  #settled = false
  #sent = false
  #status = 0
  #headers: Record<string, string> = {}
  #note: string | null = null
  #body: Buffer = Buffer.alloc(0)
  #bytes = 0
  #recorded: Error | undefined

  constructor(asked: OutboundRequest, onSettled: Settled) {
    this.lane = asked.lane ?? ''
    this.inFlightMax = asked.maxInFlight ?? IN_FLIGHT_DEFAULT
    this.deadlineAt = this.#startedAt + asked.timeoutMs
    this.#keptMax = asked.keptBytesMax ?? KEPT_BYTES_DEFAULT
    this.#bodyAs = asked.bodyAs ?? 'text'
    this.#onSettled = onSettled
  }

  onRequestStart(): void {
    this.#sent = true
  }

  onResponseStart(_controller: unknown, status: number, headers: AnswerHeaders): void {
    if (status < 200) return
    this.#status = status
    const all = Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ')] as const)
    this.#headers = Object.fromEntries(firstOf(all))
    if (bytesOf(all) > bytesOf(Object.entries(this.#headers))) this.#note = HEADERS_CUT
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#bytes === 0) this.#body = chunk
    else if (this.#bytes < this.#keptMax) this.#append(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > READ_BYTES_MAX) this.#respond({ whole: false })
  }

  onResponseEnd(): void {
    this.#respond({ whole: true })
  }

  onResponseError(_controller: unknown, error: Error): void {
    const cause = this.#recorded ?? error
    if (cause instanceof HeadTooLong && cause.status >= 200) {
      this.#status = cause.status
      this.#note = HEADERS_UNREAD
    }
    this.fail(...reasonOf(cause))
  }

  /** Records the error of its connection. The exchange ends when undici reports it. */
  note(error: Error): void {
    this.#recorded ??= error
  }

  /** Ends the exchange before its answer is complete. */
  fail(code: OutboundFailureCode, detail: string): void {
    if (this.#status === 0) this.#settle({ kind: 'failure', code, detail, durationMs: this.#elapsedMs() }, false)
    else this.#respond({ whole: false })
  }

  expire(): void {
    if (!this.carried) this.fail('timeout', 'No connection to the host was free in time.')
    else if (!this.#sent) this.fail('timeout', 'The host did not accept a connection in time.')
    else this.fail('timeout', 'The host did not respond in time.')
  }

  /** Most bodies are one chunk, which stays as it is. A second chunk moves them into a buffer of the maximum size. */
  #append(chunk: Buffer): void {
    if (this.#body.length < this.#keptMax) {
      const buffer = Buffer.alloc(this.#keptMax)
      this.#body.copy(buffer)
      this.#body = buffer
    }
    chunk.copy(this.#body, this.#bytes)
  }

  /** Only a connection whose answer was read to its end is reused. */
  #respond({ whole }: { readonly whole: boolean }): void {
    const isCut = !whole || this.#bytes > this.#keptMax
    const bytes = this.#body.subarray(0, Math.min(this.#bytes, this.#keptMax))
    const head = {
      kind: 'response',
      status: this.#status,
      headers: this.#headers,
      note: this.#note,
      durationMs: this.#elapsedMs(),
    } as const
    if (this.#bodyAs === 'latin1')
      return this.#settle({ ...head, body: bytes.toString('latin1'), truncated: isCut }, whole)
    const body = bodyText({ bytes, headers: this.#headers, isCut, keptMax: this.#keptMax })
    this.#settle(body instanceof Promise ? body.then((text) => ({ ...head, ...text })) : { ...head, ...body }, whole)
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt)
  }

  #settle(result: OutboundResult | Promise<OutboundResult>, keep: boolean): void {
    if (this.#settled) return
    this.#settled = true
    this.#onSettled(result, keep)
  }
}

type Header = readonly [name: string, value: string]

const bytesOf = (headers: readonly Header[]): number =>
  headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0)

/** The first headers, and as much of the next one as fits. */
function firstOf(headers: readonly Header[]): readonly Header[] {
  let left = HEADER_BYTES_MAX
  return headers.slice(0, HEADERS_MAX).flatMap(([name, value]): readonly Header[] => {
    left -= name.length
    if (left <= 0) return []
    const kept = value.slice(0, left)
    left -= kept.length
    return [[name, kept]]
  })
}
