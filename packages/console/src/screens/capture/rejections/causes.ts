import type { RejectionReason as Reason } from '@postroad/contract'
import type { Rejection } from '../../../data/tail.ts'

/** Where the remedy is: a tab of the endpoint, its allowlist, its switch, or at the sender or the operator. */
type Remedy = 'verification' | 'access' | 'address' | 'enable' | 'none'
export type Cause = { readonly title: string; readonly text: string; readonly remedy: Remedy }

/** Every cause as a person reads it, and the place of its remedy. The screen shows the advice of the server below it. */
export const CAUSES: Readonly<Record<Reason, Cause>> = {
  missing_header: {
    title: 'The signature header was missing',
    text: 'The sender does not sign, or it signs in another way than the endpoint expects.',
    remedy: 'verification',
  },
  bad_signature: {
    title: 'The signature did not match',
    text: 'The body may have changed on the way, the secret may differ, or somebody may forge requests.',
    remedy: 'verification',
  },
  stale_timestamp: {
    title: 'The timestamp was too old',
    text: 'The time is further from now than the endpoint tolerates. Somebody may have sent an old request again.',
    remedy: 'verification',
  },
  ip_not_allowed: {
    title: 'The address is not on the allowlist',
    text: 'The allowlist does not contain the address of the sender.',
    remedy: 'address',
  },
  endpoint_disabled: {
    title: 'The endpoint or the key is switched off',
    text: 'Senders get 503 and usually retry.',
    remedy: 'enable',
  },
  invalid_idempotency_key: {
    title: 'The idempotency key is not valid',
    text: 'It was empty, too long, or contained a character that is not allowed.',
    remedy: 'access',
  },
  idempotency_key_reused: {
    title: 'An idempotency key arrived twice',
    text: 'The same key arrived before with another body, so one of the two would have been lost.',
    remedy: 'access',
  },
  quota_exceeded: {
    title: 'The monthly quota is used up',
    text: 'Postroad accepts nothing more until the next month begins or the plan changes.',
    remedy: 'none',
  },
  burst_limited: {
    title: 'Too many requests at once',
    text: 'More requests arrived in a second than the plan allows for one URL or key.',
    remedy: 'none',
  },
  payload_too_large: {
    title: 'The body was too large',
    text: 'It was longer than the endpoint accepts.',
    remedy: 'none',
  },
  records_too_large: {
    title: 'The records were too large',
    text: 'The mappings of the endpoint or of the rules make records that are larger than one event may be.',
    remedy: 'none',
  },
  unsupported_encoding: {
    title: 'The encoding is not supported',
    text: 'The body was compressed in a way that Postroad cannot read.',
    remedy: 'none',
  },
  empty_body: { title: 'The body was empty', text: 'There was nothing to file.', remedy: 'none' },
  invalid_body: {
    title: 'The body could not be read',
    text: 'It does not match its Content-Type, or it was cut off.',
    remedy: 'none',
  },
  loop_detected: {
    title: 'The event went in a circle',
    text: 'It arrived by a delivery of this installation.',
    remedy: 'none',
  },
  handshake_failed: {
    title: 'The handshake failed',
    text: 'The handshake of the sender named another verify token, or it had another form.',
    remedy: 'access',
  },
  invalid_challenge: {
    title: 'The challenge was not valid',
    text: 'The handshake of the sender contained a challenge that Postroad cannot return.',
    remedy: 'access',
  },
  cors_origin_not_allowed: {
    title: 'The page may not post here',
    text: 'A browser posted from an origin that the endpoint does not allow.',
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
  scope_missing: { title: 'The key may not send', text: 'The ingest key has no scope for it.', remedy: 'none' },
  dataset_not_allowed: {
    title: 'The key may not use the dataset',
    text: 'The ingest key allows only other datasets.',
    remedy: 'none',
  },
  invalid_dataset: {
    title: 'The dataset name is not valid',
    text: 'The URL contains a name that no dataset may have.',
    remedy: 'none',
  },
  dataset_limit_reached: {
    title: 'There are too many datasets',
    text: 'The project has reached its limit.',
    remedy: 'none',
  },
}

/** One cause with all requests that were refused for it. */
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
