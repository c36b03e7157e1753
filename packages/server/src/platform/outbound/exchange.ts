import type { Dispatcher } from 'undici'
import { reasonOf } from './failure.ts'
import type { OutboundFailureCode, OutboundRequest, OutboundResult } from './request.ts'

type Settled = (result: OutboundResult, keep: boolean) => void
type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

const READ_BYTES_MAX = 64 * 1024
const KEPT_BYTES_DEFAULT = 16 * 1024
const HEADERS_MAX = 100
const INFORMATIONAL_MAX = 20
const IN_FLIGHT_DEFAULT = 10

/**
 * One request from the call to its result. The first result counts; later events are ignored. Once the head is complete the
 * result is a response, whatever happens to its body: the status is the receiver's answer, and another request would repeat it.
 */
export class Exchange implements Dispatcher.DispatchHandler {
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
  #informational = 0
  #status = 0
  #headers: Record<string, string> = {}
  #body: Buffer = Buffer.alloc(0)
  #bytes = 0
  #recorded: Error | undefined

  constructor(asked: OutboundRequest, onSettled: Settled) {
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
    if (status >= 200) {
      this.#status = status
      this.#headers = boundedHeaders(headers)
    } else if (++this.#informational > INFORMATIONAL_MAX) {
      this.fail('response_too_large', 'The host sent too many interim responses.')
    }
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
    this.fail(...reasonOf(this.#recorded ?? error))
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
    const truncated = !whole || this.#bytes > this.#keptMax
    const bytes = this.#body.subarray(0, Math.min(this.#bytes, this.#keptMax))
    const body = this.#bodyAs === 'latin1' ? bytes.toString('latin1') : textOf(bytes, truncated)
    const durationMs = this.#elapsedMs()
    this.#settle({ kind: 'response', status: this.#status, headers: this.#headers, body, truncated, durationMs }, whole)
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt)
  }

  #settle(result: OutboundResult, keep: boolean): void {
    if (this.#settled) return
    this.#settled = true
    this.#onSettled(result, keep)
  }
}

function boundedHeaders(headers: AnswerHeaders): Record<string, string> {
  const kept = Object.entries(headers).slice(0, HEADERS_MAX)
  return Object.fromEntries(kept.map(([name, value = '']) => [name, [value].flat().join(', ')]))
}

/** Bytes as text. A character that the limit cuts in half is left out. */
function textOf(bytes: Buffer, cut: boolean): string {
  const text = cut ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }) : bytes.toString()
  return text.replaceAll('\0', '\ufffd')
}
