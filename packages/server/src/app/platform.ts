import { join } from 'node:path'
import { customersReach, outboundAllow, type Config } from '../config.ts'
import type { Platform } from '../context.ts'
import type { Clock } from '../platform/clock.ts'
import { createAccessTokens } from '../platform/access-tokens.ts'
import { isProviderText } from '../domain/signature/index.ts'
import { createProviderTexts } from '../platform/provider-texts.ts'
import { openDatabase } from '../platform/db.ts'
import { createUuidv7, randomBytes, randomText } from '../platform/ids.ts'
import { createHeavy, type Heavy, type HeavyLimits } from '../platform/heavy/heavy.ts'
import type { Log } from '../platform/log.ts'
import { createLinks, type LinkBudget, type Links } from '../platform/links/links.ts'
import { createLoopRuns } from '../platform/loop-runs.ts'
import { createMailer } from '../platform/mailer.ts'
import { createWakeups } from '../platform/notify.ts'
import { createOidc } from '../platform/oidc.ts'
import { createOutboundHttp, type OutboundHttp, type OutboundOptions } from '../platform/outbound-http.ts'
import { createOutboundReach } from '../platform/outbound-reach.ts'
import { createPasswordHash } from '../platform/password-hash.ts'
import { createRetryLog } from '../platform/retry-log.ts'
import { createSealedText } from '../platform/sealed-text.ts'
import { createWorkMeter, type WorkMeter } from '../platform/work-meter.ts'
import { readPlans } from '../plans.ts'
import type { Resolver } from '../platform/resolver.ts'
import type { Storage } from '../storage.ts'

export type PlatformOptions = {
  readonly config: Config
  readonly storage: Storage
  readonly log: Log
  readonly clock: Clock
  /** The chaos runner plants faults here. */
  readonly outbound?: ((options: OutboundOptions) => OutboundHttp) | undefined
  /** The same for destinations that are not reached by HTTP. */
  readonly links?: ((links: Links) => Links) | undefined
  /** The same for what their connections read. */
  readonly linkBudget?: LinkBudget | undefined
  /** The same for work in threads, and for what tenants pay. */
  readonly heavy?: ((heavy: Heavy) => Heavy) | undefined
  readonly work?: ((work: WorkMeter) => WorkMeter) | undefined
  /** Uses a name server instead of the machine's, for chaos and tests. */
  readonly resolver?: Resolver | undefined
  /** Other limits for work in threads, for tests. */
  readonly heavyLimits?: Partial<HeavyLimits> | undefined
}

/** The module that threads run. */
const THREAD = new URL('../tasks/thread.ts', import.meta.url)

/** Opens the platform of the process. Nothing here depends on webhooks. */
export function createPlatform({
  config,
  storage,
  log,
  clock,
  outbound = createOutboundHttp,
  links = (made) => made,
  linkBudget,
  heavy = (made) => made,
  work: metered = (made) => made,
  resolver,
  heavyLimits = {},
}: PlatformOptions): Platform {
  const database = openDatabase({
    target: storage.target,
    connectionsMax: 10,
    applicationName: 'postroad',
    statementTimeoutMs: 5_000,
  })
  const retryLog = createRetryLog(log, clock)
  const uuidAt = createUuidv7()
  const work = metered(createWorkMeter(clock))
  const named = resolver === undefined ? {} : { resolver }
  const client = outbound({ allow: outboundAllow(config), ...named })
  const { HTTPS_PROXY: secure, HTTP_PROXY: plain, NO_PROXY } = config
  const environment = { HTTPS_PROXY: secure?.reveal(), HTTP_PROXY: plain?.reveal(), NO_PROXY }
  const reach = createOutboundReach({ allow: outboundAllow(config), resolver, environment })
  return {
    config,
    plans: readPlans(config),
    database,
    clock,
    log,
    retryLog,
    loopRuns: createLoopRuns(clock),
    heavy: heavy(
      createHeavy({
        entry: THREAD,
        threadsMax: config.HEAVY_THREADS,
        log,
        limits: heavyLimits,
        charge: (payer, ms) => work.charge(payer, ms),
      }),
    ),
    work,
    cipher: storage.cipher,
    wakeups: createWakeups(database, (cause) => retryLog.warn('wakeup.not_sent', { cause })),
    outbound: client,
    customersOutbound: outbound({ ...customersReach(config), ...named }),
    reach,
    links: links(createLinks({ reach, budget: linkBudget })),
    providerTexts: createProviderTexts({ outbound: client, clock, isReadable: isProviderText }),
    ...createSignInParts({ config, storage, log, clock }),
    uuid: () => uuidAt(clock.now()),
    randomText,
    randomBytes,
    random: Math.random,
  }
}

/** The parts that only sign-in needs. */
function createSignInParts({
  config,
  storage,
  log,
  clock,
}: PlatformOptions): Pick<Platform, 'mailer' | 'passwordHash' | 'cookies' | 'accessTokens' | 'oidc'> {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config
  const from = config.MAIL_FROM ?? 'Postroad <postroad@localhost>'
  return {
    mailer: createMailer({ smtpUrl: config.SMTP_URL, from, outboxDir: join(config.DATA_DIR, 'outbox'), log }),
    passwordHash: createPasswordHash(),
    cookies: createSealedText(storage.cipher, 'cookies'),
    accessTokens: createAccessTokens(storage.cipher),
    oidc:
      issuer === undefined || clientId === undefined
        ? undefined
        : createOidc({ issuer, clientId, clientSecret, now: () => clock.now() }),
  }
}
