import { z } from 'zod'
import { idOutput } from './ids.ts'
import { Timestamp } from './list.ts'

/**
 * Why a request was refused after its endpoint or ingest key was known, and what the owner of the endpoint can do about it.
 * Only these are logged: what could not be stored is tried again by its sender, and a repeat is no refusal.
 */
export const REMEDIES = {
  endpoint_disabled: 'Switch the endpoint or the ingest key on, or take its URL out of the sender.',
  ip_not_allowed:
    'Add the address to the IP allowlist of the endpoint or of the ingest key, if it is one of your senders.',
  workspace_suspended: 'Ask the operator to reinstate the workspace.',
  workspace_closed: 'Let an owner of the workspace reopen it, or take its URLs out of the senders.',
  burst_limited:
    'Slow the sender down, let it try again after Retry-After, or choose a plan with a higher burst limit.',
  cors_origin_not_allowed: 'Add the origin of the page to the allowed origins of the endpoint.',
  handshake_failed:
    'Set the handshake of the endpoint to the kind the sender uses, with the verify token that is set there.',
  invalid_challenge: 'Look at the sender: its challenge was empty or longer than 2,048 characters.',
  scope_missing: 'Add the scope "ingest" to the ingest key, or give the sender another key.',
  dataset_not_allowed: 'Add the dataset to those of the ingest key, or give the sender another key.',
  payload_too_large: 'Send less at once, or ask the operator to raise INGEST_BODY_BYTES.',
  records_too_large:
    'Take less of the payload in the mappings of the endpoint or of the rules: the records of one event may be 8 MiB together.',
  unsupported_encoding: 'Let the sender compress with gzip, deflate or br, or not at all.',
  missing_header: 'Switch signing on at the sender, or choose the scheme and the header that it uses.',
  bad_signature:
    'Compare the secret at the sender with that of the endpoint; the signature tester says what differs. Else somebody forges requests.',
  stale_timestamp: 'Set the clock of the sender, or raise tolerance_seconds of the endpoint.',
  empty_body: 'Let the sender send JSON, a urlencoded form or multipart/form-data.',
  invalid_body: 'Let the sender send what its Content-Type says, whole; without one the body is read as JSON.',
  loop_detected: 'Break the loop: a destination leads back to this endpoint.',
  invalid_idempotency_key:
    'Let the sender send one Idempotency-Key of 1 to 255 printable ASCII characters without spaces, or none.',
  idempotency_key_reused:
    'Let the sender make a new key for each event: this one came before with another body, and what came now is not stored.',
  quota_exceeded: 'Wait until the month turns, or choose a plan with more events.',
  invalid_dataset: 'Use a dataset name that starts with a letter, followed by up to 62 letters, digits or underscores.',
  dataset_limit_reached: 'Use a dataset that exists; this project has as many as it may have.',
} as const

export type RejectionReason = keyof typeof REMEDIES
export const RejectionReason = z.enum(keysOf(REMEDIES))

function keysOf<const Named extends object>(named: Named): (keyof Named & string)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant object has the keys of its type
  return Object.keys(named) as (keyof Named & string)[]
}

/** Whether refusals for this reason stand in the rejection log. */
export function isLogged(reason: string): reason is RejectionReason {
  return Object.hasOwn(REMEDIES, reason)
}

/** One credential, one reason, one UTC minute; address, method and type are those of the latest of `count` requests. */
export const Rejection = z.object({
  id: idOutput('rejection'),
  webhook_id: idOutput('webhook').nullable().describe('The endpoint; null: an ingest key was used without one.'),
  ingest_key_id: idOutput('ingestKey').nullable().describe('The ingest key; null: the URL of the endpoint was used.'),
  reason: RejectionReason,
  status: z
    .int()
    .describe('The status that senders are answered for this reason; for a body that came too slowly, 408 instead.'),
  count: z.int().describe('How many requests of that minute were refused so.'),
  at: Timestamp.describe('When the latest of them came: RFC 3339, UTC, milliseconds.'),
  source_ip: z.string().nullable(),
  method: z.string(),
  content_type: z.string().nullable().describe('Its first 200 characters.'),
  remedy: z.string().describe('What to do about it, in a sentence.'),
})
export type Rejection = z.infer<typeof Rejection>
