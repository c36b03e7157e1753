import type { Config } from './config.ts'
import type { Actor } from './domain/actor.ts'
import type { Plans } from './domain/plan.ts'
import type { Cipher } from './platform/cipher.ts'
import type { Clock } from './platform/clock.ts'
import type { Database, Db } from './platform/db.ts'
import type { Log } from './platform/log.ts'
import type { Mailer } from './platform/mailer.ts'
import type { Oidc } from './platform/oidc.ts'
import type { OutboundHttp } from './platform/outbound-http.ts'
import type { Wakeups } from './platform/notify.ts'
import type { PasswordHash } from './platform/password-hash.ts'
import type { SealedText } from './platform/sealed-text.ts'

/** What the process has: made once in `app.ts`, handed down. Time, chance and the network come from here only. */
export type Deps = {
  readonly config: Config
  readonly plans: Plans
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  readonly cipher: Cipher
  readonly wakeups: Wakeups
  readonly outbound: OutboundHttp
  readonly mailer: Mailer
  readonly passwordHash: PasswordHash
  /** Seals what cookies hold. */
  readonly cookies: SealedText
  /** The identity provider of the settings; undefined when none is set. */
  readonly oidc: Oidc | undefined
  /** Why no delivery could ever reach this URL, as far as can be said without looking its name up. */
  readonly whyUrlRefused: (url: string) => string | undefined
  /** The address in links, without a slash at the end. */
  readonly baseUrl: () => string
  /** Where people change their plan: the operator's page for it, else the console. */
  readonly upgradeUrl: () => string
  /** Tells this node at once, and the others, that a project's configuration changed. */
  readonly configChanged: (projectId: string) => void
  /** Tells the senders that the destinations of these lanes changed, or were switched off. A hint. */
  readonly lanesChanged: (change: LanesChange) => void
  /** Audits, in the open transaction, that this attempt has switched its destination off, and queues mails to who may switch it on. */
  readonly tellDisabled: (db: Db, at: DisabledDestination) => Promise<void>
  /** Reads a stored body as the road did when it came. */
  readonly readStored: (stored: StoredBody) => Promise<StoredPayload>
  /** Sends a test request to a destination as its deliveries are sent; nothing is stored. It takes as long as it takes, so call it outside of transactions. */
  readonly sendTest: (asked: TestAsked) => Promise<TestSent>
  /** What deliveries say of themselves in User-Agent. */
  readonly deliveryUserAgent: string
  readonly uuid: () => string
  readonly randomText: (characters: number) => string
  readonly random: () => number
}

/** `gone`: it answered 410; `failing`: nothing has succeeded for days. */
export type DisabledDestination = {
  readonly workspaceId: string
  readonly projectId: string
  readonly destinationId: string
  readonly attemptId: string
  readonly reason: 'gone' | 'failing'
}

/** A body as received, with the headers it came with. */
export type StoredBody = { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> }
export type StoredPayload = { readonly ok: true; readonly payload: unknown; readonly chars: number } | { readonly ok: false; readonly error: string }

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

/** What a verb has: the process, who acts, and where. `db` is the pool, or the transaction that `inTransaction` opened. */
export type Ctx = Deps & {
  readonly db: Db
  readonly actor: Actor
  readonly workspaceId: string
  readonly projectId: string
  readonly requestId: string
  readonly ip: string | undefined
  /** Set inside a transaction: runs at its end, those with the lesser key first. For locks that many transactions take. */
  readonly beforeCommit?: (key: string, work: () => Promise<void>) => void
  /** Set inside a transaction: runs after the commit. */
  readonly afterCommit?: (work: () => void) => void
}
