import type { CustomerPlace, Reason } from '@postroad/contract'
import { LIMITS, SYSTEM_DATASET, SYSTEM_DATASET_RULE } from '@postroad/contract/plain'
import type { CompiledResponse } from '../domain/capture/endpoint-response.ts'
import type { PauseReason } from '../domain/delivery/delivery-state.ts'
import type { IngestKeyPlan, ProjectPlan, WebhookPlan } from './directory.ts'
import type { EventRows, StoredIds } from '../resources/capture/submissions/insert/queries.ts'

/** The four ways to address an event (contract part 4), and a fifth for events that no sender sent. */
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
  | {
      readonly kind: 'origin'
      readonly workspaceId: string
      readonly projectId: string
      readonly dataset: string
      readonly origin: Origin
    }

/** The part of the project that made an event without a sender: a source, a trigger, a workflow instance, an AI run or an alert. */
export type Origin = {
  readonly kind: 'source' | 'cron_trigger' | 'ws_trigger' | 'workflow' | 'ai_run' | 'alert'
  readonly id: string
}

/** The credential in the URL; empty: the event has no sender. */
export function credentialIn(address: Address): string {
  if (address.kind === 'origin') return ''
  return address.kind === 'url' ? address.slug : address.key
}

/**
 * The purpose of a request: to file an event, to prove ownership of the endpoint, to check whether a page may post, or (HEAD)
 * to check whether the endpoint is enabled.
 */
export type Asked =
  | { readonly kind: 'event' }
  /** A GET. `isHub`: it has a hub.challenge, so it is a question whether the endpoint answers it or not. */
  | { readonly kind: 'handshake'; readonly isHub: boolean }
  | { readonly kind: 'preflight' }
  | { readonly kind: 'probe' }

/** A request as received. The body is read only after the checks that need no body. */
export type Captured = {
  readonly address: Address
  readonly asked: Asked
  /** The path and query that were called, as they came. */
  readonly target: string
  /** Names in lower case. Repeated headers are joined as HTTP joins them. */
  readonly headers: Readonly<Record<string, string>>
  readonly sourceIp: string | undefined
  readonly receivedAt: number
  /** Lets pages of this origin read the answer, whatever it is; `*`: pages of any origin. */
  readonly shareWith: (origin: string) => void
  readonly readBody: (bytesMax: number) => Promise<Buffer | 'too_large' | 'aborted'>
  /** The maximum nesting depth of its JSON. */
  readonly depthMax: number
  /** The customer of an event without a sender, or the place that names it; absent: it names none. */
  readonly customer?: CustomerPlace | { readonly id: string | undefined } | undefined
  /** The request was refused when it came, and is verified again as of that time. */
  readonly again?: true
  /** The event that led to this one through workflows and agents; absent: none did. */
  readonly root?: string | undefined
}

/** The subject of the credential: an endpoint, or an ingest key and the target in its URL; or the origin of the event. */
export type Receiver = {
  readonly plan: ProjectPlan
  readonly origin: Origin | undefined
  readonly webhook: WebhookPlan | undefined
  readonly ingestKeyId: string | undefined
  readonly ingestKey: IngestKeyPlan | undefined
  readonly use: 'webhook' | 'rules' | 'whole'
  /** The dataset of the URL, when it names one. */
  readonly dataset: string | undefined
}

/**
 * The key that identifies a repeat, and the fingerprint that a repeat must share with the first request; null: any request with
 * the key is a repeat. SHA-256 in hex.
 */
export type IdempotencyKey = {
  readonly hash: string
  readonly fingerprint: string | null
  /** The key alone, where the hash has the body too. SHA-256 in hex. */
  readonly id?: string
}

declare const passed: unique symbol
/** An event that passed every check. Only `verify/ladder.ts` makes one, so skipping a check does not compile. */
export type Verified = {
  readonly captured: Captured
  readonly receiver: Receiver
  /** The bytes as sent: these are signed and stored. */
  readonly body: Buffer
  /** The body, inflated if it was sent compressed. */
  readonly content: Buffer
  /** The parsed payload, for routing; of a large body only an outline, with the members that the ladder reads. */
  readonly payload: unknown
  readonly isOutline: boolean
  readonly isProven: boolean
  /** The payload as JSON text, for storing. If it came as JSON, the text is unchanged. */
  readonly text: string
  /** Whether the text is the body as sent, byte for byte. */
  readonly isBody: boolean
  readonly hops: number
  /** The services that the event had passed before (`event-chain.ts`); null: the request names none. */
  readonly chain: string | null
  /** undefined: a repeat would be another event. */
  readonly idempotency: IdempotencyKey | undefined
  readonly [passed]: true
}

export type RecordDraft = {
  readonly id: string
  readonly dataset: string
  /** The payload as routed, which the conditions of destinations see. */
  readonly payload: unknown
  /** The text of the payload; null: the submission's body, byte for byte. */
  readonly data: string | null
  /** `data` is the whole payload, and the body has another form. */
  readonly isWhole: boolean
}

export type DeliveryDraft = {
  readonly id: string
  readonly recordId: string
  readonly destinationId: string
  /** The reason why the delivery waits from the start; null: it is sent. */
  readonly pauseReason: PauseReason | null
  /** The delivery waits for earlier ones with this key; undefined: it waits for none. */
  readonly orderKey?: string | undefined
}

/** A workflow instance that a record starts. */
export type StartDraft = {
  readonly id: string
  readonly workflowId: string
  readonly version: number
  readonly recordId: string
  readonly dataset: string
}

/** A run of an AI agent that a record starts. */
export type RunDraft = {
  readonly id: string
  readonly triggerId: string
  readonly agentId: string
  readonly recordId: string
  readonly dataset: string
}

/** Everything that one commit stores of an event beside the event itself. */
export type Decided = {
  readonly submissionId: string
  readonly records: readonly Omit<RecordDraft, 'payload'>[]
  readonly deliveries: readonly DeliveryDraft[]
  readonly starts: readonly StartDraft[]
  readonly runs: readonly RunDraft[]
  readonly routed:
    | readonly {
        readonly rule_id: string
        readonly rule: string
        readonly dataset: string
        readonly record_id: string
      }[]
    | undefined
  /** The reasons, as JSON. */
  readonly decision: string
}

/** A decision about an event. */
export type Routed = Decided & {
  readonly verified: Verified
  /** The dataset of the answer: the one that the URL or the endpoint names. */
  readonly dataset: string | null
}

export type Stored = {
  readonly kind: 'stored'
  readonly event: Routed
  /** The deliveries whose first attempts the commit has started, of all events that it stored. */
  readonly started?: ReadonlySet<string> | undefined
}

/** First attempts that a commit starts together with the deliveries that it stores. */
export type FirstAttempts = {
  /** The rows of the commit, now with the attempts. */
  readonly rows: readonly EventRows[]
  /** Must be called with the outcome of the commit. Returns the deliveries whose attempts have started. */
  readonly ended: (outcome: { readonly stored: StoredIds } | 'refused' | 'unknown') => ReadonlySet<string> | undefined
}

/** The sender of this process takes slots for new deliveries; undefined: it starts none of them. */
export type BeginFirst = (rows: readonly EventRows[]) => FirstAttempts | undefined

/** The event from which everything follows that this event starts: the one that led to it, or itself. */
export const rootOf = ({ submissionId, verified }: Routed): string => verified.captured.root ?? submissionId

/** The content of the 201 for an event, and of the 200 for a repeat. */
export type Acceptance = Pick<Routed, 'submissionId' | 'dataset' | 'routed'> & {
  readonly receivedAt: number
  readonly records: readonly { readonly id: string; readonly dataset: string }[]
}

export function acceptanceOf({ submissionId, dataset, routed, records, verified }: Routed): Acceptance {
  return { submissionId, dataset, routed, records, receivedAt: verified.captured.receivedAt }
}

/** A repeat: nothing is stored, and the answer is the first one again. */
export type Duplicate = { readonly kind: 'duplicate'; readonly answer: Acceptance }

/** A repeat, with the response of the endpoint that it was sent to; undefined: that of the contract. */
export type Repeated = Duplicate & { readonly response: CompiledResponse | undefined }

/** Another process is storing the same key at this moment. */
export type Busy = { readonly kind: 'busy' }

/** The result of the commit for an event. Only an event with an idempotency key can be a duplicate or busy. */
export type Committed = Stored | Duplicate | Busy | Rejected

/** An answer that leaves no trace: the answer to a handshake, or a granted preflight request. */
export type Answered =
  | {
      readonly kind: 'answered'
      readonly with: 'handshake'
      readonly status: number
      readonly contentType: string
      /** Names and values in turn. */
      readonly headers: readonly string[]
      readonly body: string
    }
  | { readonly kind: 'answered'; readonly with: 'preflight' }
  | { readonly kind: 'answered'; readonly with: 'enabled' }

export type Rejected = {
  readonly kind: 'rejected'
  readonly reason: Reason
  readonly text?: string
  readonly scheme?: string
  /** The step of the signature check that failed. */
  readonly failedStep?: string
  readonly retryAfterSeconds?: number
  readonly upgradeUrl?: string
  /** The row of the rejection log that counts the refusal; absent: no row does. */
  readonly rejectionId?: string
}

/** On the road, refusals are values: they are ordinary, counted and logged. */
export function reject(reason: Reason, more: Omit<Rejected, 'kind' | 'reason'> = {}): Rejected {
  return { kind: 'rejected', reason, ...more }
}

/** The pause before the sender's next attempt, when its provider could not be reached. */
export const PROVIDER_RETRY_SECONDS = 10

/** The event was not stored, for a reason that is not in the event: the sender may retry. */
export const unavailable = reject('storage_unavailable', { retryAfterSeconds: 1 })

/** The same, and certain: the database is away, so the event was not stored and never will be. It may go to the commit again. */
export const away = reject('storage_unavailable', { retryAfterSeconds: 1 })

/** The plan bounds the events that follow from one event, because each hop can multiply them. */
export function descendantsExhausted(max: number): Rejected {
  return reject('loop_detected', {
    text: `The event that started this has already led to ${max.toLocaleString('en')} events through workflows and agents, the most that the plan allows. Nothing was stored. Check whether your workflows start each other.`,
  })
}

/** Only Postroad files events into its dataset. */
export const reservedDataset = (name: string): Rejected | undefined =>
  name === SYSTEM_DATASET
    ? reject('invalid_dataset', {
        text: `The dataset ${SYSTEM_DATASET_RULE}. Nothing was stored.`,
      })
    : undefined

/** Whether Postroad made the event itself. Such events are in its dataset, and no quota, allowance or limit counts them. */
export const isOwnEvent = ({ origin }: Pick<Receiver, 'origin'>): boolean => origin?.kind === 'alert'

export function datasetLimitReached(name: string): Rejected {
  return reject('dataset_limit_reached', {
    text: `This project has the maximum of ${LIMITS.datasetsPerProjectMax} datasets, so "${name}" cannot be created and nothing was stored. Use an existing dataset.`,
  })
}
