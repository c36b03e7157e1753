import { LIMITS, type Decision, type Reason } from '@postroad/contract'
import type { PauseReason } from '../domain/delivery/delivery-state.ts'
import type { IngestKeyPlan, ProjectPlan, WebhookPlan } from './directory.ts'

/** The four ways an event may be addressed (contract part 4). */
export type Address =
  | {
      readonly kind: 'url'
      readonly workspace: string
      readonly project: string
      readonly slug: string
      readonly dataset: string | undefined
    }
  | { readonly kind: 'key_rules'; readonly key: string }
  | { readonly kind: 'key_dataset'; readonly key: string; readonly dataset: string }
  | { readonly kind: 'key_webhook'; readonly key: string; readonly slug: string }

/** What a request wants: to file an event, to prove whose the endpoint is, or to learn whether a page may post. */
export type Asked =
  | { readonly kind: 'event' }
  | {
      readonly kind: 'handshake'
      readonly challenge: string
      readonly mode: string | null
      readonly token: string | null
    }
  | { readonly kind: 'preflight' }

/** A request as it came. The body is read only after the checks that need no body. */
export type Captured = {
  readonly address: Address
  readonly asked: Asked
  /** Lower-cased names; repeated ones joined as HTTP joins them. */
  readonly headers: Readonly<Record<string, string>>
  readonly sourceIp: string | undefined
  readonly receivedAt: number
  /** Lets pages of this origin read the answer, whatever it will be; `*`: of any. */
  readonly shareWith: (origin: string) => void
  readonly readBody: (bytesMax: number) => Promise<Buffer | 'too_large' | 'aborted'>
  readonly decode: (body: Buffer) => Decoded | Promise<Decoded>
}

/** A body, read: the value for routing and the JSON text for storing; or why it could not be read. */
export type Decoded =
  | { readonly ok: true; readonly payload: unknown; readonly text: string }
  | { readonly ok: false; readonly reason: 'empty_body' | 'invalid_body'; readonly error: string }

/** Whom the credential names: an endpoint, or an ingest key and what its URL asks for. */
export type Receiver = {
  readonly plan: ProjectPlan
  readonly webhook: WebhookPlan | undefined
  readonly ingestKeyId: string | undefined
  readonly ingestKey: IngestKeyPlan | undefined
  readonly use: 'webhook' | 'rules' | 'whole'
  /** The dataset of the URL, when it names one. */
  readonly dataset: string | undefined
}

/** The key by which a repeat is known, and what it must share with the first request; null: nothing. SHA-256 in hex. */
export type IdempotencyKey = { readonly hash: string; readonly fingerprint: string | null }

declare const passed: unique symbol
/** An event that passed every check. Only `verify/ladder.ts` makes one, so skipping a check does not compile. */
export type Verified = {
  readonly captured: Captured
  readonly receiver: Receiver
  /** The bytes as sent: what is signed and kept. */
  readonly body: Buffer
  /** The body, inflated when it was sent compressed. */
  readonly content: Buffer
  /** The parsed payload, for routing. */
  readonly payload: unknown
  readonly isProven: boolean
  /** The payload as JSON text, for storing: as it came when it came as JSON. */
  readonly text: string
  readonly hops: number
  /** Whom it had passed before (`event-chain.ts`); null: nobody that says so. */
  readonly chain: string | null
  /** undefined: a repeat would be another event. */
  readonly idempotency: IdempotencyKey | undefined
  readonly [passed]: true
}

export type RecordDraft = {
  readonly id: string
  readonly dataset: string
  /** The payload as routed: what destinations' conditions see. */
  readonly payload: unknown
  /** Its text; null: the submission's body, byte for byte. */
  readonly data: string | null
}

export type DeliveryDraft = {
  readonly id: string
  readonly recordId: string
  readonly destinationId: string
  /** Why it waits from the begin; null: it is sent. */
  readonly pauseReason: PauseReason | null
  /** Among those with the same key it waits for the earlier ones; undefined: for none. */
  readonly orderKey?: string | undefined
}

/** What was decided about an event: everything that one commit stores. */
export type Routed = {
  readonly verified: Verified
  readonly submissionId: string
  readonly records: readonly RecordDraft[]
  readonly deliveries: readonly DeliveryDraft[]
  readonly routed:
    | readonly {
        readonly rule_id: string
        readonly rule: string
        readonly dataset: string
        readonly record_id: string
      }[]
    | undefined
  readonly decision: Decision
  /** The dataset of the answer: the one the URL or the endpoint names. */
  readonly dataset: string | null
}

export type Stored = { readonly kind: 'stored'; readonly event: Routed }

/** What a 201 says of an event, and a 200 says again. */
export type Acceptance = Pick<Routed, 'submissionId' | 'dataset' | 'routed'> & {
  readonly receivedAt: number
  readonly records: readonly { readonly id: string; readonly dataset: string }[]
}

export function acceptanceOf({ submissionId, dataset, routed, records, verified }: Routed): Acceptance {
  return { submissionId, dataset, routed, records, receivedAt: verified.captured.receivedAt }
}

/** A repeat: nothing is stored, and the first answer is given again. */
export type Duplicate = { readonly kind: 'duplicate'; readonly answer: Acceptance }

/** Another process is storing the same key just now. */
export type Busy = { readonly kind: 'busy' }

/** What the commit says of an event. Only one with an idempotency key can be a duplicate or busy. */
export type Committed = Stored | Duplicate | Busy | Rejected

/** What is answered and leaves no trace: a challenge, echoed; a browser's question, granted. */
export type Answered =
  | { readonly kind: 'answered'; readonly with: 'challenge'; readonly challenge: string }
  | { readonly kind: 'answered'; readonly with: 'preflight' }

export type Rejected = {
  readonly kind: 'rejected'
  readonly reason: Reason
  readonly text?: string
  readonly scheme?: string
  /** The step of the signature check that failed. */
  readonly failedStep?: string
  readonly retryAfterSeconds?: number
  readonly upgradeUrl?: string
  /** The row of the rejection log that counts it; absent: none does. */
  readonly rejectionId?: string
}

/** On the road refusals are values: they are ordinary, counted and logged. */
export function reject(reason: Reason, more: Omit<Rejected, 'kind' | 'reason'> = {}): Rejected {
  return { kind: 'rejected', reason, ...more }
}

/** Not stored, and not because of the event: it may come again. */
export const unavailable = reject('storage_unavailable', { retryAfterSeconds: 1 })

export function datasetLimitReached(name: string): Rejected {
  return reject('dataset_limit_reached', {
    text: `This project has ${LIMITS.datasetsPerProjectMax} datasets, as many as it may have, and "${name}" would be one more; nothing was stored. Use a dataset that exists.`,
  })
}
