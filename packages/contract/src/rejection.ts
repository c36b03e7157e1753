import { VERIFICATION_STATES } from '@postroad/verify/state'
import { z } from 'zod'
import { idOutput } from './ids.ts'
import { Timestamp } from './list.ts'

/**
 * The reasons for refusing a request whose endpoint or ingest key was known, each with the remedy for its owner. Only these are
 * logged: a sender retries a request that could not be stored, and a repeat is not a refusal.
 */
export const REMEDIES = {
  endpoint_disabled: 'Turn on the endpoint or the ingest key, or remove its URL from the sender.',
  ip_not_allowed:
    'Add the address to the IP allowlist of the endpoint or of the ingest key, if it is one of your senders.',
  workspace_suspended: 'Ask the operator to reinstate the workspace.',
  workspace_closed: 'Ask an owner of the workspace to reopen it, or remove its URLs from the senders.',
  burst_limited: 'Slow down the sender, let it retry after Retry-After, or choose a plan with a higher burst limit.',
  work_limited:
    'Correct the requests that are refused, send smaller bodies, or choose a plan with more work. Each large or refused request counts.',
  cors_origin_not_allowed: 'Add the origin of the page to the allowed origins of the endpoint.',
  handshake_failed:
    'Set the handshake of the endpoint to the kind or the form that the sender uses, and set the same verify token at both.',
  invalid_challenge: 'Check the sender: its challenge was empty or longer than 2,048 characters.',
  scope_missing: 'Add the scope "ingest" to the ingest key, or give the sender another key.',
  dataset_not_allowed: 'Add the dataset to the ingest key, or give the sender another key.',
  payload_too_large: 'Send smaller bodies, or ask the operator to raise INGEST_BODY_BYTES.',
  records_too_large:
    'Map less of the payload at the endpoint or in the rules: the records of one event may have 8 MiB in total. If the refusal names too many reasons, turn off rules or delete destinations.',
  unsupported_encoding: 'Configure the sender to compress with gzip, deflate, br or zstd, or not at all.',
  missing_header: 'Turn on signing at the sender, or choose the scheme and the header that it uses.',
  bad_signature:
    'Compare the secret at the sender with that of the endpoint; the signature tester shows the difference. If they are the same, someone may be forging requests.',
  stale_timestamp: 'Correct the clock of the sender, or raise tolerance_seconds of the endpoint.',
  empty_body: 'Configure the sender to send JSON, a urlencoded form or multipart/form-data.',
  invalid_body:
    'Configure the sender to send a complete body in the format of its Content-Type; without one the body is read as JSON.',
  loop_detected: 'Break the loop: a destination leads back to this endpoint.',
  invalid_idempotency_key:
    'Configure the sender to send one Idempotency-Key of 1 to 255 printable ASCII characters without spaces, or none.',
  idempotency_key_reused:
    'Configure the sender to create a new key for each event: it sent this key before with another body, and Postroad did not store the new one.',
  quota_exceeded: 'Wait until the next month starts, or choose a plan with more events.',
  invalid_dataset: 'Use a dataset name that starts with a letter, followed by up to 62 letters, digits or underscores.',
  dataset_limit_reached: 'Use an existing dataset; this project has the maximum number of datasets.',
} as const

export type RejectionReason = keyof typeof REMEDIES
export const RejectionReason = z.enum(keysOf(REMEDIES))

function keysOf<const Named extends object>(named: Named): (keyof Named & string)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant object has the keys of its type
  return Object.keys(named) as (keyof Named & string)[]
}

/** The checks before that of the signature. */
const BEFORE_PROOF: ReadonlySet<RejectionReason> = new Set([
  'endpoint_disabled',
  'ip_not_allowed',
  'workspace_suspended',
  'workspace_closed',
  'burst_limited',
  'work_limited',
  'cors_origin_not_allowed',
  'scope_missing',
  'payload_too_large',
  'unsupported_encoding',
])
const NO_PROOF: ReadonlySet<RejectionReason> = new Set(['missing_header', 'bad_signature', 'stale_timestamp'])

/** How far requests that were refused for a reason were proven; null: they were refused after the check. */
export function stateOfRefused(reason: RejectionReason): 'failed' | 'unattempted' | null {
  if (NO_PROOF.has(reason)) return 'failed'
  return BEFORE_PROOF.has(reason) ? 'unattempted' : null
}

/** Whether the rejection log records refusals for this reason. */
export function isLogged(reason: string): reason is RejectionReason {
  return Object.hasOwn(REMEDIES, reason)
}

/** One row for each credential, reason and UTC minute. Address, method and type are those of the latest of `count` requests. */
export const Rejection = z.object({
  id: idOutput('rejection'),
  webhook_id: idOutput('webhook')
    .nullable()
    .describe('The endpoint; null: an ingest key was used without an endpoint.'),
  ingest_key_id: idOutput('ingestKey').nullable().describe('The ingest key; null: the URL of the endpoint was used.'),
  reason: RejectionReason,
  status: z
    .int()
    .describe('The status of the response for this reason. A body that arrived too slowly got 408 instead.'),
  count: z.int().describe('The number of requests refused for this reason in that minute.'),
  at: Timestamp.describe('The time of the latest of them: RFC 3339, UTC, milliseconds.'),
  source_ip: z.string().nullable(),
  method: z.string(),
  content_type: z.string().nullable().describe('The first 200 characters of the content type.'),
  remedy: z.string().describe('The remedy, in a sentence.'),
  verification: z
    .enum(VERIFICATION_STATES)
    .extract(['failed', 'unattempted'])
    .nullable()
    .describe(
      '`failed`: the proof of the sender was wrong or missing. `unattempted`: refused before the check. null: refused after it.',
    ),
})
export type Rejection = z.infer<typeof Rejection>
