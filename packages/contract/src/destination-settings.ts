import { z } from 'zod'
import { DotPath } from './condition.ts'
import { ERROR_CODES } from './error-codes.ts'
import { headerName } from './header-name.ts'
import { LIMITS } from './limits.ts'
import { DatasetName, Text, Timestamp } from './list.ts'

/** The settings of a destination. The routes that take or show a destination use these schemas. */

export const Url = Text.min(1).max(2_048).describe('https, or http to an address in OUTBOUND_ALLOW.')
export const Datasets = z
  .array(DatasetName)
  .max(100)
  .nullable()
  .describe('The datasets that the destination receives; null: all but `postroad`.')
const HeaderName = headerName('X-Tenant')
/** Responses show this instead of the value of a custom header. A change that sends it back retains the value. */
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
      // A retained value has a stored name, which can be older than the check of names.
      const { error } = typeof value === 'string' ? HeaderName.safeParse(name) : {}
      if (error !== undefined) ctx.addIssue({ code: 'custom', message: error.issues[0]?.message, path: [name] })
    }
  })
  .describe(
    'Sent with every delivery. Values are stored encrypted and never shown. A change replaces all headers; null, or the placeholder of a response, retains the stored ' +
      'value of that name. Headers that Postroad sets cannot be overridden.',
  )
export type CustomHeaders = z.output<typeof Headers>

/** The form in responses. */
export const ShownHeaders = z
  .record(z.string(), HeldValue)
  .describe('The names of the headers. No response shows a value.')
export type ShownHeaders = z.output<typeof ShownHeaders>
export const BODY_FORMS = ['envelope', 'data', 'thin', 'as_received'] as const
export type BodyForm = (typeof BODY_FORMS)[number]
export const DeliveryBody = z
  .enum(BODY_FORMS)
  .describe(
    'The body of deliveries. `envelope`: id, dataset, received_at and data. `data`: the payload alone. `thin`: id, dataset, received_at, and the url with which a Data API key reads the record. `as_received`: the bytes of the request that was received, with its content type, query string and ' +
      'headers, so that the receiver can verify the signature of the sender; only for the kinds http and postroad. Postroad adds its own headers, and its signature covers the bytes that it sends. A record that a mapping made, ' +
      'and an event without a sender, have no such request: they are sent as `data`, and the attempt says so. A change applies from the next attempt.',
  )
export const ForwardHeaders = z
  .array(headerName('X-GitHub-Event'))
  .max(LIMITS.forwardedHeadersMax, `at most ${LIMITS.forwardedHeadersMax} names`)
  .describe(
    'The names of headers of the request that are sent with `envelope`, `data` and `thin`. Custom headers and those of Postroad win. The values of credentials are not stored, so their names are refused.',
  )

export const Retry = z.strictObject({
  schedule_seconds: z
    .array(z.int().min(0).max(LIMITS.retryStepSecondsMax))
    .min(1)
    .max(LIMITS.retryScheduleStepsMax)
    .nullable()
    .describe('The wait before each attempt, in seconds, ±20 % each; null: the default schedule of up to 80 hours.'),
})

const HOUR_S = 3_600
const HORIZON_S = 80 * HOUR_S

/** Seconds before each attempt: dense at first, then every 2 h up to 80 h, so a receiver that is down for three days still gets its events. */
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
    'At most this many attempts in any second, minute or hour, including retries, across all processes; null: no limit.',
  )
export const Ordering = z
  .union(
    [z.literal('none'), z.strictObject({ path: DotPath })],
    'An order is "none", or an object with a path into the record, such as {"path":"customer.id"}.',
  )
  .describe(
    'The path of an order key in the record. Records with the same key are delivered one at a time, in the order in which they were accepted: a delivery does not start while an earlier one with its key ' +
      'waits, is being sent or is paused. A delivery that failed permanently or was canceled does not block later ones. Deliveries with other keys continue. A record without the key, or with null, waits for no other. ' +
      'A replayed delivery goes to the end of its key. A change applies to records that are accepted after it.',
  )
export const SIGNING_SCHEMES = ['hmac', 'ed25519', 'both'] as const
export const Signing = z.strictObject({
  header: z
    .enum(['both', 'service', 'standard'])
    .describe('The signature headers to send: Service-Signature, the Standard Webhooks headers, or both.'),
  scheme: z
    .enum(SIGNING_SCHEMES)
    .optional()
    .describe(
      'The signatures in the Standard Webhooks headers: `hmac` (v1, the default), `ed25519` (v1a, which receivers verify with a public key; needs the header `standard`), or `both` for a migration. Absent in a change: unchanged.',
    ),
})

export const PublicKeys = z
  .array(
    z.object({
      id: z.string().describe('The thumbprint of the key (RFC 7638), which is its kid.'),
      key: z.string().describe('The key as Standard Webhooks libraries take it: `whpk_` and base64.'),
      expires_at: Timestamp.nullable().describe('After a rotation: the time until which the previous key also signs.'),
    }),
  )
  .describe('The ed25519 keys that deliveries are signed with, the current one first. Empty with the scheme hmac.')
export type PublicKeys = z.output<typeof PublicKeys>

export const Breaker = z
  .object({
    state: z
      .enum(['closed', 'open', 'half_open', 'recovering'])
      .describe(
        '`open`: nothing is sent before next_probe_at. `half_open`: one probe is in progress. `recovering`: the probe succeeded, and each success lets more requests through.',
      ),
    opened_at: Timestamp.nullable().describe('The time at which it opened; null when closed.'),
    next_probe_at: Timestamp.nullable().describe(
      'The time of the next probe while it is open: after 30 seconds at first, later up to 300. null when closed.',
    ),
    failures_in_row: z
      .int()
      .describe('Attempts that failed since the last success. The number may be up to 5 seconds old.'),
    failing_since: Timestamp.nullable().describe(
      'The time of the first of these failures. After 120 hours a failed probe turns the destination off.',
    ),
    last_error: z
      .enum(ERROR_CODES)
      .nullable()
      .describe('The error of the last of them; null: the last attempt succeeded.'),
    last_status: z.int().nullable().describe('The status of its response; null: there was no response.'),
  })
  .describe(
    'Opens after 10 failures in a row, or when at least half of 20 or more attempts in 5 minutes failed. Deliveries that wait meanwhile use up no attempts.',
  )

export const PayloadTemplate = z
  .union([z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .nullable()
  .describe(
    'JSON that replaces the envelope as the body. Its strings are Liquid without tags, with the variables id, dataset, received_at, data and secret (of auth, kind payload). A string that is only ' +
      `one {{ … }} keeps the type of its value. null: the envelope. At most ${LIMITS.templateCharsMax} characters. A change applies from the next attempt.`,
  )
