import type { Config } from './config.ts'
import type { Actor } from './domain/people/actor.ts'
import type { Plans } from './domain/workspace/plan.ts'
import type { AccessTokens } from './platform/access-tokens.ts'
import type { ProviderTexts } from './platform/provider-texts.ts'
import type { Cipher } from './platform/cipher.ts'
import type { Clock } from './platform/clock.ts'
import type { Database, Db } from './platform/db.ts'
import type { Log } from './platform/log.ts'
import type { Mailer } from './platform/mailer.ts'
import type { Oidc } from './platform/oidc.ts'
import type { OutboundReach } from './platform/outbound-reach.ts'
import type { OutboundHttp } from './platform/outbound-http.ts'
import type { Heavy } from './platform/heavy/heavy.ts'
import type { Links } from './platform/links/links.ts'
import type { LoopRuns } from './platform/loop-runs.ts'
import type { WorkMeter } from './platform/work-meter.ts'
import type { Wakeups } from './platform/notify.ts'
import type { RetryLog } from './platform/retry-log.ts'
import type { PasswordHash } from './platform/password-hash.ts'
import type { SealedText } from './platform/sealed-text.ts'
import type { Features } from './features.ts'

/**
 * The platform of the process: one value of each, created in `app/platform.ts`. Time, chance and the network come only from
 * here.
 */
export type Platform = {
  readonly config: Config
  readonly plans: Plans
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  /** For loops: logs failures that are retried, one line a minute. */
  readonly retryLog: RetryLog
  /** How the background loops of this process fare. */
  readonly loopRuns: LoopRuns
  /** Runs work that takes long in threads. */
  readonly heavy: Heavy
  /** The work that tenants may still start. */
  readonly work: WorkMeter
  readonly cipher: Cipher
  readonly wakeups: Wakeups
  readonly outbound: OutboundHttp
  /** The client for deliveries to the destinations of customers, which reach less (docs/adr/0201). */
  readonly customersOutbound: OutboundHttp
  /** Outgoing connections that are not one HTTP request. */
  readonly reach: OutboundReach
  /** Connections to destinations that are not reached by HTTP. */
  readonly links: Links
  /** The certificates and keys that providers sign with. */
  readonly providerTexts: ProviderTexts
  readonly mailer: Mailer
  readonly passwordHash: PasswordHash
  /** Seals the content of cookies. */
  readonly cookies: SealedText
  /** The keys of OAuth access tokens. */
  readonly accessTokens: AccessTokens
  /** The configured identity provider; undefined when there is none. */
  readonly oidc: Oidc | undefined
  readonly uuid: () => string
  readonly randomText: (characters: number) => string
  readonly randomBytes: (count: number) => Buffer
  readonly random: () => number
}

/** Everything that any part may use: the platform, and the features that rooms offer each other across the floors. */
export type Deps = Platform & Features

/**
 * The context of a verb: the process, the actor, and the place. `db` is the pool, or the transaction that `inTransaction`
 * opened.
 */
export type Ctx = Deps & {
  readonly db: Db
  readonly actor: Actor
  readonly workspaceId: string
  readonly projectId: string
  readonly requestId: string
  readonly ip: string | undefined
  /** Set inside a transaction: runs at its end, in the order of the keys. For locks that many transactions take. */
  readonly beforeCommit?: (key: string, work: () => Promise<void>) => void
  /** Set inside a transaction: runs after the commit. */
  readonly afterCommit?: (work: () => void) => void
}
