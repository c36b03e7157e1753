/** What features offer to rooms that stand below them, by area. `app/features.ts` makes them; nothing else does. */
export type Features = DeliveryFeatures & WorkspaceFeatures

type DeliveryFeatures = {
  /** Why no delivery could ever reach this URL, as far as that is known without looking its name up. */
  readonly whyUrlRefused: (url: string) => string | undefined
  /** Why plain http may not be spoken to the host of this URL. It looks names up for 3 s at most, so call it outside of transactions. */
  readonly whyPlainHttpRefused: (url: string) => Promise<string | undefined>
  /** Notifies the senders that the destinations of these lanes changed, or were disabled. A hint. */
  readonly lanesChanged: (change: LanesChange) => void
  /** Sends a test request to a destination as its deliveries are sent; nothing is stored. It takes as long as it takes, so call it outside of transactions. */
  readonly sendTest: (asked: TestAsked) => Promise<TestSent>
  /** What deliveries say of themselves in User-Agent. */
  readonly deliveryUserAgent: string
}

type WorkspaceFeatures = {
  /** The address in links, without a slash at the end. */
  readonly baseUrl: () => string
  /** Where people change their plan: the operator's page for it, else the console. */
  readonly upgradeUrl: () => string
  /** Notifies this node at once, and the others soon, that a project's configuration changed. */
  readonly configChanged: (projectId: string) => void
}

/** What a test request is made of, in the words of the rows that deliveries are made of. */
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
  readonly halted: boolean
}
