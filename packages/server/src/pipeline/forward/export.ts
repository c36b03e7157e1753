import { LIMITS, type ForwardedSignal } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { readRetryAfter } from '../../domain/delivery/retry-policy.ts'
import type { Attributes } from '../../domain/serving/forwarding/items.ts'
import type { Item } from './batch.ts'
import { encode, partialSuccess, type Encoding } from './otlp.ts'

/** The receiver of a batch, with opened headers. */
export type Receiver = Encoding & {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Attributes
  /** The connections of one forwarder do not delay those of others. */
  readonly lane: string
}

/** The outcome of one request. */
export type Exported = { readonly status: number | null; readonly durationMs: number } & (
  | { readonly kind: 'accepted'; readonly rejected: number; readonly text: string | null }
  /** A smaller request may pass. */
  | { readonly kind: 'too_large' | 'bad_data'; readonly error: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly error: string; readonly waitMs: number }
)

/** `too_large` and `bad_data` are about the content of the request; any other failure is tried again as it is. */
const ABOUT_CONTENT: Readonly<Record<number, 'too_large' | 'bad_data'>> = {
  400: 'bad_data',
  413: 'too_large',
  422: 'bad_data',
}
const KEPT_BYTES_MAX = 4_096

type Of = Pick<Deps, 'outbound' | 'clock' | 'deliveryUserAgent'>
type Asked = {
  readonly signal: ForwardedSignal
  readonly items: readonly Item[]
  readonly timeoutMs: number
  readonly signalOff?: AbortSignal
}

/** Sends one request. It never rejects for a failure of the receiver. */
export async function exportItems(deps: Of, receiver: Receiver, asked: Asked): Promise<Exported> {
  const { signal, items, timeoutMs, signalOff } = asked
  const { body, headers } = await encode({ ...receiver, signal, items, observedAt: deps.clock.now() })
  const own = Object.entries(receiver.headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const result = await deps.outbound.request({
    url: `${receiver.endpoint}/v1/${signal}`,
    headers: { ...Object.fromEntries(own), 'user-agent': deps.deliveryUserAgent, ...headers },
    body,
    timeoutMs,
    lane: receiver.lane,
    maxInFlight: 2,
    keptBytesMax: KEPT_BYTES_MAX,
    bodyAs: 'latin1',
    ...(signalOff === undefined ? {} : { signal: signalOff }),
  })
  const { durationMs } = result
  if (result.kind === 'failure')
    return { kind: 'failed', status: null, durationMs, reason: result.code, error: result.detail, waitMs: 0 }
  const { status } = result
  if (status >= 200 && status < 300) {
    const given = { signal, contentType: result.headers['content-type'] }
    return { kind: 'accepted', status, durationMs, ...(await partialSuccess(given, result.body)) }
  }
  const about = ABOUT_CONTENT[status]
  const error = sentenceOf(status)
  return about === undefined
    ? {
        kind: 'failed',
        status,
        durationMs,
        reason: 'bad_status',
        error,
        waitMs: waitMs(result.headers, deps.clock.wall()),
      }
    : { kind: about, status, durationMs, error }
}

/** The text of the receiver is not shown, because it may repeat a header. */
function sentenceOf(status: number): string {
  if (status === 401 || status === 403) return `The receiver returned ${status}. Check the authentication headers.`
  if (status === 404) return 'The receiver returned 404. Check the endpoint. Postroad appends /v1/logs and /v1/traces.'
  if (status >= 300 && status < 400)
    return `The receiver returned ${status}, and Postroad does not follow redirects. Use the URL of the redirect.`
  if (status === 413) return 'The receiver returned 413, because the request is too large for it.'
  if (status === 400 || status === 422)
    return `The receiver returned ${status}, because it cannot read the data. Check the endpoint, the headers and the encoding.`
  return `The receiver returned ${status}. Postroad retries.`
}

function waitMs(headers: Readonly<Record<string, string>>, now: number): number {
  const text = headers['retry-after']
  const seconds = text === undefined ? null : readRetryAfter(text, now)
  return Math.min(seconds ?? 0, LIMITS.retryAfterSecondsMax) * 1_000
}
