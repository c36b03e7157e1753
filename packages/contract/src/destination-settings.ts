import { z } from 'zod'
import { DotPath } from './condition.ts'
import { ERROR_CODES } from './error-codes.ts'
import { headerName } from './header-name.ts'
import { LIMITS } from './limits.ts'
import { DatasetName, Text, Timestamp } from './list.ts'

/** What a destination is set to, piece by piece; the routes that take or show one are made of these. */

export const Url = Text.min(1).max(2_048).describe('https, or http to an address in OUTBOUND_ALLOW.')
export const Datasets = z.array(DatasetName).max(100).nullable().describe('Which datasets it receives; null: all.')
const HeaderName = headerName('X-Tenant')
/** How an answer shows the value of a custom header; sent back, it keeps the value. */
const HeldValue = z.strictObject({ has_value: z.literal(true) })
export const Headers = z
  .record(
    z.string(),
    z.union(
      [z.string().max(LIMITS.customHeaderCharsMax), z.null(), HeldValue],
      'must be text, or null to keep the stored value',
    ),
  )
  .refine(
    (headers) => Object.keys(headers).length <= LIMITS.customHeadersMax,
    `at most ${LIMITS.customHeadersMax} headers`,
  )
  .superRefine((headers, ctx) => {
    for (const [name, value] of Object.entries(headers)) {
      // A value that is kept has a name that is held, which may be from before names were judged.
      const { error } = typeof value === 'string' ? HeaderName.safeParse(name) : {}
      if (error !== undefined) ctx.addIssue({ code: 'custom', message: error.issues[0]?.message, path: [name] })
    }
  })
  .describe(
    'Sent with every delivery. Values are stored sealed and never shown. A change replaces all headers; null, or the placeholder of an answer, retains the stored ' +
      'value of that name. Headers that Postroad sets cannot be overridden.',
  )
export type CustomHeaders = z.output<typeof Headers>

/** The same as every answer shows it. */
export const ShownHeaders = z.record(z.string(), HeldValue).describe('Their names; no answer shows a value.')
export type ShownHeaders = z.output<typeof ShownHeaders>
export const Retry = z.strictObject({
  schedule_seconds: z
    .array(z.int().min(0).max(LIMITS.retryStepSecondsMax))
    .min(1)
    .max(LIMITS.retryScheduleStepsMax)
    .nullable()
    .describe('The waits before each attempt, in seconds, each ±20 %; null: the default schedule, up to 80 hours.'),
})

const HOUR_S = 3_600
const HORIZON_S = 80 * HOUR_S

/** Seconds before each attempt: dense at first, then every 2 h up to 80 h, so a receiver that is down for three days still has chances left. */
export const DEFAULT_SCHEDULE_SECONDS: readonly number[] = withTail([0, 5, 30, 120, 300, 900, 1_800, HOUR_S])

function withTail(head: readonly number[]): readonly number[] {
  const step = 2 * HOUR_S
  const left = HORIZON_S - head.reduce((sum, seconds) => sum + seconds, 0)
  return [...head, ...Array.from({ length: Math.floor(left / step) }, () => step)]
}

export const TimeoutMs = z.int().min(LIMITS.deliveryTimeoutMsMin).max(LIMITS.deliveryTimeoutMsMax)
export const MaxInFlight = z.int().min(LIMITS.maxInFlightMin).max(LIMITS.maxInFlightMax)
export const RateLimit = z
  .strictObject({
    count: z.int().min(1).max(LIMITS.rateLimitCountMax),
    per: z.enum(['second', 'minute', 'hour']),
  })
  .nullable()
  .describe(
    'At most this many attempts in any second, minute or hour, retries included, whichever process sends; null: no limit.',
  )
export const Ordering = z
  .union(
    [z.literal('none'), z.strictObject({ path: DotPath })],
    'An order is "none", or an object with a path into the record, such as {"path":"customer.id"}.',
  )
  .describe(
    'With a path into the record: records with the same value there are delivered one after another in the order they were accepted, and a later one is not begun while an earlier one ' +
      'waits, is being sent or is paused; one that failed for good or was cancelled is passed. Other values go on meanwhile. A record without the value, or with null, waits for none. What is replayed goes ' +
      'to the end. A change counts for records that are accepted after it.',
  )
export const Signing = z.strictObject({
  header: z
    .enum(['both', 'service', 'standard'])
    .describe('Service-Signature, the Standard Webhooks headers, or both.'),
})

export const Breaker = z
  .object({
    state: z
      .enum(['closed', 'open', 'half_open', 'recovering'])
      .describe(
        '`open`: nothing is sent before next_probe_at. `half_open`: one probe is under way. `recovering`: it succeeded, and more are let through with each success.',
      ),
    opened_at: Timestamp.nullable().describe('When it opened from closed; null when closed.'),
    next_probe_at: Timestamp.nullable().describe(
      'When one delivery is tried while it is open: after 30 seconds, growing to 300. Null when closed.',
    ),
    failures_in_row: z.int().describe('Attempts that failed since the last success. It may be up to 5 seconds old.'),
    failing_since: Timestamp.nullable().describe(
      'The first of them. After 120 hours a probe that fails switches the destination off.',
    ),
    last_error: z
      .enum(ERROR_CODES)
      .nullable()
      .describe('Why the last of them failed; null: the last attempt succeeded.'),
    last_status: z
      .int()
      .nullable()
      .describe('The status that the destination answered then; null: there was no answer.'),
  })
  .describe(
    'Opens after 10 failures in a row, or when at least half of 20 or more attempts in 5 minutes failed. What waits meanwhile uses up no attempt.',
  )

export const PayloadTemplate = z
  .union([z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .nullable()
  .describe(
    'JSON that is sent in place of the envelope; its strings are Liquid without tags, and see id, dataset, received_at, data and secret (that of auth, kind payload). A string that is ' +
      `one {{ … }} keeps the type of its value. null: the envelope. At most ${LIMITS.templateCharsMax} characters. A change counts from the next attempt on.`,
  )
