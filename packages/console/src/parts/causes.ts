import type { RejectionReason as Reason } from '@postroad/contract'
import type { Rejection } from '../data/tail.ts'

/** Where the remedy is: a tab of the endpoint, its allowlist, its switch, or at the sender or the operator. */
type Remedy = 'verification' | 'access' | 'address' | 'enable' | 'none'
export type Cause = { readonly title: string; readonly text: string; readonly remedy: Remedy }

/** Every cause as a person reads it, and the place of its remedy. The screen shows the advice of the server below it. */
export const CAUSES: Readonly<Record<Reason, Cause>> = {
  missing_header: {
    title: 'The signature header was missing',
    text: 'The sender does not sign requests, or uses a different scheme than the endpoint expects.',
    remedy: 'verification',
  },
  bad_signature: {
    title: 'The signature did not match',
    text: 'The body changed in transit, the secret is different, or someone is forging requests.',
    remedy: 'verification',
  },
  stale_timestamp: {
    title: 'The timestamp is outside the tolerance',
    text: 'The sender’s clock is wrong, the request was delayed, or someone is replaying an old request.',
    remedy: 'verification',
  },
  ip_not_allowed: {
    title: 'The IP address is not on the allowlist',
    text: 'The allowlist does not contain the sender’s IP address.',
    remedy: 'address',
  },
  endpoint_disabled: {
    title: 'The endpoint or the key is turned off',
    text: 'Senders get 503 and usually retry.',
    remedy: 'enable',
  },
  invalid_idempotency_key: {
    title: 'The idempotency key is not valid',
    text: 'The key was empty, too long, or contained a character that is not allowed.',
    remedy: 'access',
  },
  idempotency_key_reused: {
    title: 'An idempotency key was reused',
    text: 'The sender used the same key for two different requests. Postroad stored only the first one.',
    remedy: 'access',
  },
  quota_exceeded: {
    title: 'The monthly quota is used up',
    text: 'Postroad accepts no more events until the next month begins or the plan changes.',
    remedy: 'none',
  },
  burst_limited: {
    title: 'Too many requests in one second',
    text: 'Requests came in faster than the plan allows per URL or key.',
    remedy: 'none',
  },
  work_limited: {
    title: 'Too much work for one URL or key',
    text: 'Large bodies and refused requests need processor time. They needed more than the plan allows for one URL or key.',
    remedy: 'none',
  },
  payload_too_large: {
    title: 'The body was too large',
    text: 'The body was larger than the endpoint accepts.',
    remedy: 'none',
  },
  records_too_large: {
    title: 'The records were too large',
    text: 'The records that mappings and rules make from the event are together larger than Postroad accepts.',
    remedy: 'none',
  },
  unsupported_encoding: {
    title: 'The encoding is not supported',
    text: 'The body was compressed in a way that Postroad cannot read.',
    remedy: 'none',
  },
  empty_body: { title: 'The body was empty', text: 'The sender sent a request without content.', remedy: 'none' },
  invalid_body: {
    title: 'The body could not be read',
    text: 'The body does not match its Content-Type, or it was truncated.',
    remedy: 'none',
  },
  loop_detected: {
    title: 'The event was in a loop',
    text: 'The event came back to an endpoint that had already accepted it, or passed through too many services.',
    remedy: 'none',
  },
  handshake_failed: {
    title: 'The handshake failed',
    text: 'The sender’s handshake contained a different verify token, or had the wrong format.',
    remedy: 'access',
  },
  invalid_challenge: {
    title: 'The challenge was not valid',
    text: 'The sender’s handshake contained a challenge that Postroad cannot return.',
    remedy: 'access',
  },
  cors_origin_not_allowed: {
    title: 'The web page may not send events here',
    text: 'A page in a browser sent the event from an origin that the endpoint does not allow.',
    remedy: 'access',
  },
  workspace_suspended: {
    title: 'The workspace is suspended',
    text: 'Postroad accepts nothing until the operator reinstates it.',
    remedy: 'none',
  },
  workspace_closed: {
    title: 'The workspace is closed',
    text: 'Postroad accepts nothing until an owner reopens it.',
    remedy: 'none',
  },
  scope_missing: {
    title: 'The key cannot send events',
    text: 'The ingest key does not have the scope “ingest”.',
    remedy: 'none',
  },
  dataset_not_allowed: {
    title: 'The key cannot use the dataset',
    text: 'The ingest key is limited to other datasets.',
    remedy: 'none',
  },
  invalid_dataset: {
    title: 'The dataset name is not valid',
    text: 'The URL contains an invalid dataset name.',
    remedy: 'none',
  },
  dataset_limit_reached: {
    title: 'The project has too many datasets',
    text: 'The event names a new dataset, and the project has reached its dataset limit.',
    remedy: 'none',
  },
}

/** One cause with all requests that were rejected for it. */
export type Group = {
  readonly id: Reason
  readonly rows: readonly Rejection[]
  readonly count: number
  readonly lastAt: string
  readonly status: number
  readonly remedy: string
}

/** The causes, the latest first. */
export function groupsOf(rows: readonly Rejection[]): readonly Group[] {
  const by = Map.groupBy(rows, ({ reason }) => reason)
  return [...by]
    .flatMap(([id, of]) => {
      const sorted = of.toSorted((a, b) => b.at.localeCompare(a.at))
      const [first] = sorted
      return first === undefined
        ? []
        : [
            {
              id,
              rows: sorted,
              count: sorted.reduce((sum, { count }) => sum + count, 0),
              lastAt: first.at,
              status: first.status,
              remedy: first.remedy,
            },
          ]
    })
    .toSorted((a, b) => b.lastAt.localeCompare(a.lastAt))
}
