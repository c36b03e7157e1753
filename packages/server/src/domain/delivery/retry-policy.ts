import { LIMITS } from '@postroad/contract'

const JITTER = 0.2

export interface RetryInput {
  /** Failed attempts so far; interrupted ones do not count. 0 means the first attempt. */
  readonly failures: number
  /** Seconds to wait before each attempt; the first entry is the wait before the first attempt. */
  readonly schedule: readonly number[]
  /** A random number from [0, 1). */
  readonly random: number
  /** The wait that the receiver requested with a 429 or 503, in seconds. */
  readonly retryAfterSeconds?: number | null
}

/**
 * Milliseconds until the next attempt, or null when the schedule is used up. Each step varies by ±20 %. `Retry-After`
 * only ever lengthens the wait, and to no more than 24 h.
 */
export function retryDelayMs({ failures, schedule, random, retryAfterSeconds }: RetryInput): number | null {
  const seconds = schedule[failures]
  if (seconds === undefined) return null
  const scheduledMs = Math.round(seconds * 1_000 * (1 - JITTER + 2 * JITTER * random))
  return Math.max(scheduledMs, retryAfterMs(retryAfterSeconds ?? null))
}

/** The wait that a receiver requested, up to the maximum. */
export function retryAfterMs(retryAfterSeconds: number | null): number {
  return Math.min(retryAfterSeconds ?? 0, LIMITS.retryAfterSecondsMax) * 1_000
}

/** The time of the next attempt in ms on the clock of `now`, or null when the schedule is used up. */
export function nextAttemptAt(input: RetryInput & { readonly now: number }): number | null {
  const delayMs = retryDelayMs(input)
  return delayMs === null ? null : input.now + delayMs
}

const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
]

/**
 * Reads a `Retry-After` header (RFC 9110: seconds, or one of the three HTTP dates) as whole seconds from `now` (ms since 1970);
 * 0 for a date in the past. Anything else is null: nonsense from a receiver changes nothing.
 */
export function readRetryAfter(header: string, now: number): number | null {
  const value = header.trim()
  if (/^\d{1,10}$/.test(value)) return Number(value)
  if (!HTTP_DATES.some((form) => form.test(value))) return null
  const at = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1_000))
}
