import type { ForwardedSignal, OriginError, SourceSettings } from '@postroad/contract'
import type { SourceSecret } from './domain/sources/secret.ts'

/** Features that are offered to rooms below them, by area. Only `app/features.ts` creates them. */
export type Features = DeliveryFeatures & SourceFeatures & WorkspaceFeatures & AutomationFeatures & ForwarderFeatures

type DeliveryFeatures = {
  /** The reason why no delivery could ever reach this URL, as far as that is known without a DNS lookup. */
  readonly validateUrl: (url: string) => string | undefined
  /** The same for a destination of a customer, which reaches the public internet and PORTAL_OUTBOUND_ALLOW. */
  readonly validateCustomerUrl: (url: string) => string | undefined
  /**
   * The reason why plain http to the host of this URL is forbidden. It resolves names for up to 3 s, so call it outside of
   * transactions.
   */
  readonly validatePlainHttp: (url: string) => Promise<string | undefined>
  /** Notifies the senders that the destinations of these lanes changed, or were disabled or deleted. A hint. */
  readonly lanesChanged: (change: LanesChange) => void
  /**
   * Sends a test request to a destination the same way as its deliveries; nothing is stored. It may take long, so call it
   * outside of transactions.
   */
  readonly sendTest: (asked: TestAsked) => Promise<TestSent>
  /** The overdue work of the delivery loop of this process, and the time since when (ms since 1970). */
  readonly deliveryStalled: () => { readonly call: string; readonly since: number } | undefined
  /** The User-Agent of deliveries. */
  readonly deliveryUserAgent: string
}

type SourceFeatures = {
  /**
   * Reads the next items of a source, and stores nothing. A failure of the other system is a value. It may take long, so call it
   * outside of transactions.
   */
  readonly sampleSource: (asked: SampleAsked) => Promise<Sample>
  /**
   * Drops the replication slot and the publication that this server has created for a source. A failure is a sentence about what
   * stays and how to remove it. It may take long, so call it outside of transactions.
   */
  readonly dropReplication: (
    asked: DropAsked,
  ) => Promise<{ readonly ok: true } | { readonly ok: false; readonly error: string }>
}

type WorkspaceFeatures = {
  /** The address in links, without a slash at the end. */
  readonly baseUrl: () => string
  /** The page where people change their plan: the operator's, otherwise the billing page of the console. */
  readonly upgradeUrl: () => string
  /** Notifies this node at once, and the others soon, that a project's configuration changed. */
  readonly configChanged: (projectId: string) => void
}

type AutomationFeatures = {
  /** Notifies the engines that workflow instances are due now. A hint. */
  readonly instancesDue: () => void
  /** Asks the default model of an AI provider for one short answer. It may take long, so call it outside of transactions. */
  readonly testModel: (asked: ModelTestAsked) => Promise<ModelTested>
}

type ForwarderFeatures = {
  /**
   * Sends a test record of each signal to a receiver. A failure of the receiver is a value. It may take long, so call it outside
   * of transactions.
   */
  readonly testForwarder: (asked: ForwarderTestAsked) => Promise<readonly ForwarderTested[]>
}

/** The settings of a forwarder with its opened headers. */
export type ForwarderTestAsked = {
  readonly workspaceId: string
  readonly projectId: string
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly encoding: 'json' | 'protobuf'
  readonly gzip: boolean
  readonly signals: readonly ForwardedSignal[]
}
export type ForwarderTested = {
  readonly signal: ForwardedSignal
  readonly ok: boolean
  readonly status: number | null
  readonly error: OriginError | null
  readonly duration_ms: number
}

export type ModelTestAsked = { readonly workspaceId: string; readonly projectId: string; readonly providerId: string }
export type ModelTested = {
  readonly ok: boolean
  readonly text: string | null
  /** One sentence; null when it went well. */
  readonly error: string | null
  readonly durationMs: number
}

/** The settings of a source with its opened secret. */
export type SampleAsked = {
  readonly settings: SourceSettings
  readonly secret: SourceSecret
  readonly itemsMax: number
}
export type DropAsked = {
  readonly id: string
  readonly settings: Extract<SourceSettings, { kind: 'postgres_replication' }>
  readonly secret: SourceSecret
}
export type Sample =
  | { readonly ok: true; readonly items: readonly string[] }
  | { readonly ok: false; readonly reason: string; readonly error: string }

/** The content of a test request, with the column names of the rows that deliveries are made of. */
export type TestAsked = {
  readonly workspace_id: string
  readonly project_id: string
  readonly destination_id: string
  readonly attempt_id: string
  readonly record_id: string
  readonly dataset: string
  readonly received_at: Date
  readonly data: string
  readonly timeoutMs: number
}
export type TestSent = {
  readonly outcome: 'succeeded' | 'failed'
  readonly error_code: string | null
  readonly error_detail: string | null
  readonly duration_ms: number | null
  readonly response_status: number | null
  readonly response_headers: Readonly<Record<string, string>> | null
  readonly response_body: string | null
  readonly response_truncated: boolean | null
}

export type LanesChange = {
  readonly lanes: readonly { readonly workspaceId: string; readonly destinationId: string }[]
  readonly disabled: boolean
  /** They do not exist any more, so their connections end now. */
  readonly deleted?: boolean
}
