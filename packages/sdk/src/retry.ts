import type { ServiceError } from './service-error.ts'

/** A `Retry-After` of more than this is passed on to the caller: a quota can take until next month. */
const WAIT_SECONDS_MAX = 10
const BASE_MS = 500
const WAIT_MS_MAX = 8_000
/** Spreads the retries of clients that were refused at the same time. */
const SPREAD_MS = 250

/** After one of these statuses, the request may or may not have taken effect. */
const UNCERTAIN: ReadonlySet<number> = new Set([0, 408, 500, 502, 503, 504])

/** Whether the request may have taken effect although its response was lost. */
export const isUncertain = ({ status }: ServiceError): boolean => UNCERTAIN.has(status)

type Try = {
  /** The number of earlier retries of the request. */
  readonly retries: number
  /** The request may be sent again even if it took effect. */
  readonly canRepeat: boolean
  /** A number from 0 to 1; for tests. */
  readonly random?: () => number
}

/** The time to wait before the next attempt; undefined when another attempt is useless or could do the work twice. */
export function waitMsAfter(failure: ServiceError, tried: Try): number | undefined {
  if (!isWorthRepeating(failure, tried)) return undefined
  const { random = Math.random, retries } = tried
  const { retryAfter } = failure
  if (retryAfter === undefined) return backOffMs(retries, random)
  return retryAfter > WAIT_SECONDS_MAX ? undefined : retryAfter * 1_000 + random() * SPREAD_MS
}

/** A random wait between half and all of a time that doubles with each retry. */
export function backOffMs(retries: number, random: () => number = Math.random): number {
  const most = Math.min(BASE_MS * 2 ** retries, WAIT_MS_MAX)
  return most / 2 + (random() * most) / 2
}

function isWorthRepeating(failure: ServiceError, { canRepeat }: Try): boolean {
  // The server sends 429 before any work.
  if (failure.status === 429) return true
  // The first attempt is still at work, so the next one gets its response.
  if (failure.reason === 'idempotency_in_progress') return canRepeat
  return canRepeat && isUncertain(failure)
}

/** Waits, or throws the reason of the signal as soon as it aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(reasonOf(signal))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal?.aborted === true) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}

/** The reason that the caller gave for the abort. */
function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('The call was aborted.')
}
