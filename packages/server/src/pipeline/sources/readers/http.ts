import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { UnreachableError } from '../../../platform/address-guard.ts'
import { ForeignFailure } from '../../../platform/foreign-failure.ts'
import { GatheredBytes } from '../../../platform/gathered-bytes.ts'
import { Breach } from '../../../platform/guarded/breach.ts'
import { reasonOf } from '../../../platform/outbound/failure.ts'
import { openStream, type StreamResponse } from '../../../platform/outbound/stream.ts'

const HEAD_MS_MAX = 20_000

export type HttpAsked = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly silentMsMax: number
  readonly signal: AbortSignal
}

/** Opens a response for a source. A status other than 2xx and 304 is a failure. */
export async function openResponse(
  { reach, deliveryUserAgent, clock }: Pick<Deps, 'reach' | 'deliveryUserAgent' | 'clock'>,
  asked: HttpAsked,
): Promise<StreamResponse> {
  const headers = { 'user-agent': deliveryUserAgent, 'accept-encoding': 'identity', ...asked.headers }
  const response = await openStream(reach, { ...asked, headers, headMsMax: HEAD_MS_MAX }).catch((error: unknown) => {
    throw connectionFailure(error)
  })
  const { status } = response
  if ((status >= 200 && status < 300) || status === 304) return response
  response.close()
  throw statusFailure(response, clock.now())
}

/** Any text as the value of a header, whose bytes are its UTF-8. */
export const headerText = (text: string): string => Buffer.from(text).toString('latin1')

/** The error of a connection, as the project may see it. It contains no header. */
export function connectionFailure(error: unknown): Error {
  if (error instanceof ForeignFailure) return error
  if (error instanceof UnreachableError || error instanceof Breach) return new ForeignFailure(error.code, error.message)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const text = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  if (/TIMEOUT/i.test(code)) return new ForeignFailure('timeout', 'The server did not respond in time.')
  const [reason, detail] = error instanceof Error ? reasonOf(error) : []
  if (reason === 'tls_failed') return new ForeignFailure('tls_failed', `The encrypted connection failed. ${detail}`)
  if (code === 'ECONNREFUSED')
    return new ForeignFailure('connection_refused', 'The server does not accept connections. Check the URL.')
  return new ForeignFailure(
    'connection_reset',
    `The connection failed: ${text.slice(0, 200)}. Check the URL and the headers.`,
  )
}

function statusFailure({ status, headers }: StreamResponse, now: number): ForeignFailure {
  if (status >= 300 && status < 400)
    return new ForeignFailure(
      'redirect',
      `The server returned ${status}, and Postroad does not follow redirects. Use the URL of the redirect.`,
    )
  const remedy = status === 401 || status === 403 ? ' Check the authentication headers.' : ''
  return new ForeignFailure(
    'bad_status',
    `The server returned ${status}.${remedy}`,
    retryAfterMs(headers['retry-after'], now),
  )
}

function retryAfterMs(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), LIMITS.retryAfterSecondsMax * 1_000) : undefined
}

/** The whole body as text. */
export async function readBody(response: StreamResponse, bytesMax: number): Promise<string> {
  const gathered = new GatheredBytes()
  try {
    for await (const piece of response.body) {
      if (gathered.length + piece.length > bytesMax)
        throw new ForeignFailure(
          'response_too_large',
          `The response has more than ${bytesMax} bytes. Request smaller pages.`,
        )
      gathered.append(piece)
    }
    return gathered.bytes.toString('utf8')
  } catch (error) {
    throw connectionFailure(error)
  } finally {
    response.close()
  }
}
