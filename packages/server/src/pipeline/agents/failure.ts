import { APICallError } from '@ai-sdk/provider'
import { Unreachable } from './guarded-fetch.ts'

/** The reason why a model call failed, for people to read. */
export type ModelFailure = {
  readonly reason: string
  readonly error: string
  /** Whether another attempt can succeed. */
  readonly mayPass: boolean
  /** The pause that the provider asks for. */
  readonly afterMs: number | undefined
}

const DETAIL_CHARS_MAX = 300
const RETRY_AFTER_MS_MAX = 3_600_000

export function failureOf(cause: unknown): ModelFailure {
  const call = chainOf(cause).find((one) => APICallError.isInstance(one))
  const lost = chainOf(cause).find((one) => one instanceof Unreachable)
  if (lost !== undefined)
    return {
      reason: lost.code,
      error: `The provider did not respond. ${lost.message}`,
      mayPass: lost.code !== 'blocked_address' && lost.code !== 'invalid_url',
      afterMs: undefined,
    }
  if (call?.statusCode === undefined || call.statusCode < 300)
    return {
      reason: 'invalid_answer',
      error: `The provider response cannot be read: ${messageOf(cause)}`,
      mayPass: true,
      afterMs: undefined,
    }
  const { statusCode: status } = call
  return {
    reason: 'provider_refused',
    error: `The provider returned ${status}: ${messageOf(call)}`,
    mayPass: status === 408 || status === 409 || status === 429 || status >= 500,
    afterMs: retryAfter(call.responseHeaders?.['retry-after']),
  }
}

function chainOf(cause: unknown): readonly Error[] {
  const chain: Error[] = []
  for (let at = cause; at instanceof Error && chain.length < 5; at = at.cause) chain.push(at)
  return chain
}

function messageOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause)
  return text.length > DETAIL_CHARS_MAX ? `${text.slice(0, DETAIL_CHARS_MAX)}…` : text
}

function retryAfter(header: string | undefined): number | undefined {
  const seconds = Number(header)
  return header === undefined || !Number.isFinite(seconds) || seconds < 0
    ? undefined
    : Math.min(RETRY_AFTER_MS_MAX, seconds * 1_000)
}
