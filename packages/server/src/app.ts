import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { outboundAllow, publicUrl } from './config.ts'
import type { Deps, LanesChange } from './context.ts'
import type { Road } from './pipeline/accept.ts'
import { createDeliveryLoop, type DeliveryLoop } from './pipeline/deliver/run.ts'
import { sendTest } from './pipeline/deliver/send-test.ts'
import { createBuckets } from './pipeline/buckets.ts'
import { createDirectory, type Directory } from './pipeline/directory.ts'
import { createKeyUses } from './pipeline/key-uses.ts'
import { readStored } from './pipeline/read-stored.ts'
import { createRejections, type Rejections } from './pipeline/rejections.ts'
import { createAnnounceRecords, type RecordsOf } from './pipeline/store/announce-records.ts'
import { createAnnounce, type Announce, type Lane } from './pipeline/store/announce.ts'
import { createCommit, type Commit } from './pipeline/store/commit.ts'
import { createFindRepeat } from './pipeline/store/find-repeat.ts'
import { createOnce } from './pipeline/store/once.ts'
import { createAddressGuard, createUrlCheck } from './platform/address-guard.ts'
import { systemClock, type Clock, type SystemClock } from './platform/clock.ts'
import { openDatabase, type Database } from './platform/db.ts'
import { databaseNow } from './platform/server-facts.ts'
import { randomText, uuidv7 } from './platform/ids.ts'
import type { Log } from './platform/log.ts'
import { createMailer } from './platform/mailer.ts'
import { createWakeups } from './platform/notify.ts'
import { createOidc } from './platform/oidc.ts'
import { createOutboundHttp, type OutboundHttp, type OutboundOptions } from './platform/outbound-http.ts'
import { createPasswordHash } from './platform/password-hash.ts'
import { createSealedText } from './platform/sealed-text.ts'
import { readPlans } from './plans.ts'
import { pruneAudit } from './resources/audit/index.ts'
import { createExporter } from './resources/data-export/index.ts'
import { tellDisabled } from './resources/destinations/tell-disabled.ts'
import { releaseWaiting } from './resources/deliveries/release/index.ts'
import { eraseEnded } from './resources/erasure/index.ts'
import { sendDueMails } from './resources/mails/index.ts'
import { auditSignatures } from './resources/rejections/index.ts'
import { createRollUp } from './resources/rollups/index.ts'
import { advanceReplays } from './resources/replays/index.ts'
import type { Storage } from './storage.ts'
import { createSurfaces } from './surfaces/index.ts'
import type { Patience } from './surfaces/listener.ts'
import { createStreams, type Streams } from './surfaces/stream/hub.ts'
import { createTicker, type Ticker } from './workers/ticker.ts'
import { createUpkeep } from './workers/upkeep.ts'

export const VERSION = '0.1.0'
const USER_AGENT = `Postroad/${VERSION}`

export type AppOptions = {
  readonly config: Config
  readonly storage: Storage
  readonly log: Log
  /** Tests set their own. */
  readonly clock?: Clock
  readonly patience?: Patience
  /** The chaos runner plants faults in these; nothing else does. */
  readonly commit?: (commit: Commit, deps: Deps) => Commit
  readonly rejections?: (rejections: Rejections) => Rejections
  readonly outbound?: (options: OutboundOptions) => OutboundHttp
}

export type App = {
  readonly deps: Deps
  /** Listens, begins to deliver, and gives the address it answers at. */
  start(): Promise<{ readonly port: number; readonly baseUrl: string }>
  /** Answers what is under way, ends deliveries in flight, and closes. Clients are given so long to let go of their connections. */
  stop(patienceMs?: number): Promise<void>
}

const CHANNELS = { config: 'postroad_config', lanes: 'postroad_lanes', changes: 'postroad_changes', records: 'postroad_records' } as const
const ALIGN_MS = 5_000
const POLL_MS = 500
const TELL_MS = 10
const FLUSH_MS = 1_000
const AUDIT_MS = 2_000
const AUDIT_PRUNE_MS = 3_600_000
const MAIL_MS = 1_000
const ERASE_MS = 60_000
const REPLAY_MS = 500
const RELEASE_MS = 2_000
const ROLL_UP_MS = 5_000
const EXPORT_MS = 2_000

/** The composition root: builds the parts bottom-up and hands each what it may use. */
export function createApp(options: AppOptions): App {
  const { config } = options
  const system = systemClock()
  const address = { port: config.PORT }
  const deps = createDeps(options, {
    clock: options.clock ?? system,
    baseUrl: () => publicUrl(config, address.port),
    upgradeUrl: () => config.UPGRADE_URL ?? publicUrl(config, address.port),
    configChanged: (projectId) => {
      directory.forget(projectId)
      deps.wakeups.tell(CHANNELS.config, projectId)
    },
    lanesChanged: ({ lanes, halted }) => {
      if (delivers) loop.changed(lanes, halted)
      deps.wakeups.tell(CHANNELS.changes, JSON.stringify({ lanes, halted }))
    },
  })
  const delivers = config.ROLES.includes('deliver')
  const directory = createDirectory(deps)
  const loop = createDeliveryLoop(deps, { owner: `${process.pid}-${randomUUID()}` })
  const streams = createStreams(deps)
  const road = createRoad(options, { deps, directory, streams, hint: delivers ? loop.hint : undefined })
  const surfaces = createSurfaces({ road, streams, load: () => loop.load(), version: VERSION, patience: options.patience })
  const { rejections } = road
  const tickers = [
    createTicker(deps, { everyMs: POLL_MS, name: 'directory.poll', work: () => directory.poll() }),
    createTicker(deps, { everyMs: ALIGN_MS, name: 'clock.align', work: () => align(deps.database, system) }),
    ...(config.ROLES.includes('web') ? [createTicker(deps, { everyMs: FLUSH_MS, name: 'rejections.flush', work: () => rejections.flush() })] : []),
    ...(config.ROLES.includes('work') ? createChores(deps) : []),
  ]

  return {
    deps,
    start: async () => {
      await align(deps.database, system)
      await deps.wakeups.hear(CHANNELS.config, (projectId) => directory.forget(projectId))
      if (delivers) await hearLanes(deps, loop)
      await deps.wakeups.hear(CHANNELS.records, (payload) => hearRecords(streams, payload))
      for (const ticker of tickers) ticker.start()
      if (delivers) loop.start()
      if (config.ROLES.includes('web')) address.port = await surfaces.listen()
      return { port: address.port, baseUrl: deps.baseUrl() }
    },
    stop: async (patienceMs = 0) => {
      await surfaces.close(patienceMs)
      if (delivers) await loop.stop()
      await Promise.all(tickers.map((ticker) => ticker.stop()))
      await rejections.flush().catch((cause: unknown) => deps.log.warn('rejections.flush_failed', { cause }))
      await deps.outbound.close()
      deps.mailer.close()
      await deps.database.close()
    },
  }
}

function createDeps(options: AppOptions, parts: Pick<Deps, 'clock' | 'baseUrl' | 'upgradeUrl' | 'configChanged' | 'lanesChanged'>): Deps {
  const { config, log, storage } = options
  const database = openDatabase({ target: storage.target, connectionsMax: 10, applicationName: 'postroad', statementTimeoutMs: 5_000 })
  const allow = outboundAllow(config)
  const deps: Deps = {
    ...parts,
    config,
    plans: readPlans(),
    database,
    log,
    cipher: storage.cipher,
    wakeups: createWakeups(database, (cause) => log.debug('wakeup.not_told', { cause })),
    outbound: (options.outbound ?? createOutboundHttp)({ allow }),
    ...signInParts(options, parts.clock),
    whyUrlRefused: createUrlCheck(createAddressGuard({ allow })),
    readStored,
    deliveryUserAgent: USER_AGENT,
    uuid: () => uuidv7(parts.clock.now()),
    randomText,
    random: Math.random,
    tellDisabled: (db, at) => tellDisabled(deps, db, at),
    sendTest: (asked) => sendTest(deps, asked),
  }
  return deps
}

/** What one process of the installation must do now and then; several doing it are no harm. */
function createChores(deps: Deps): readonly Ticker[] {
  return [
    createUpkeep(deps),
    createTicker(deps, { everyMs: AUDIT_MS, name: 'rejections.audit', work: () => auditSignatures(deps) }),
    createTicker(deps, { everyMs: MAIL_MS, name: 'mail.send', work: () => sendDueMails(deps) }),
    createExports(deps),
    createTicker(deps, { everyMs: ROLL_UP_MS, name: 'rollups.count', work: createRollUp(deps) }),
    createTicker(deps, { everyMs: REPLAY_MS, name: 'replays.advance', work: () => advanceReplays(deps) }),
    createTicker(deps, { everyMs: RELEASE_MS, name: 'allowance.release', work: () => releaseWaiting(deps) }),
    createTicker(deps, { everyMs: ERASE_MS, name: 'erasure', work: () => eraseEnded(deps) }),
    createTicker(deps, { everyMs: AUDIT_PRUNE_MS, name: 'audit.prune', work: () => pruneAudit(deps) }),
  ]
}

/** An export may take hours; a process that stops does not wait for it. */
function createExports(deps: Deps): Ticker {
  const exporter = createExporter(deps)
  const ticker = createTicker(deps, { everyMs: EXPORT_MS, name: 'data_export', work: () => exporter.run() })
  return {
    start: () => ticker.start(),
    stop: () => {
      exporter.stop()
      return ticker.stop()
    },
  }
}

/** What signing in stands on, and nothing else does. */
function signInParts({ config, log, storage }: AppOptions, clock: Clock): Pick<Deps, 'mailer' | 'passwordHash' | 'cookies' | 'oidc'> {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config
  const from = config.MAIL_FROM ?? 'Postroad <postroad@localhost>'
  return {
    mailer: createMailer({ smtpUrl: config.SMTP_URL, from, outboxDir: join(config.DATA_DIR, 'outbox'), log }),
    passwordHash: createPasswordHash(),
    cookies: createSealedText(storage.cipher, 'cookies'),
    oidc: issuer === undefined || clientId === undefined ? undefined : createOidc({ issuer, clientId, clientSecret, now: () => clock.now() }),
  }
}

type RoadParts = {
  readonly deps: Deps
  readonly directory: Directory
  readonly streams: Streams
  readonly hint: ((lanes: readonly Lane[]) => void) | undefined
}

/** With one process nobody else needs to hear of new work; on a PostgreSQL of its own there may be other nodes. */
function createRoad(options: AppOptions, { deps, directory, streams, hint }: RoadParts): Road {
  const commit = createCommit(deps)
  const alone = hint !== undefined && deps.config.DATABASE_URL === undefined && deps.config.PROCESSES === 1
  const soon = (work: () => void): (() => void) => deps.clock.wakeAt(deps.clock.now() + TELL_MS, work)
  const tellOf = (channel: string) => (alone ? undefined : (what: unknown) => deps.wakeups.tell(channel, JSON.stringify(what)))
  const announceLanes = createAnnounce({ hint, tell: tellOf(CHANNELS.lanes), soon })
  const announceRecords = createAnnounceRecords({ hint: (of) => streams.committed(of), tell: tellOf(CHANNELS.records), soon })
  const announce: Announce = (stored) => {
    announceLanes(stored)
    announceRecords(stored)
  }
  const rejections = createRejections(deps)
  return {
    ...deps,
    directory,
    buckets: createBuckets(),
    once: createOnce(deps.clock),
    keyUses: createKeyUses(deps),
    rejections: options.rejections?.(rejections) ?? rejections,
    commit: options.commit?.(commit, deps) ?? commit,
    findRepeat: createFindRepeat(deps),
    announce,
  }
}

/** Half the round trip is the error, a few milliseconds at most; what matters is that all nodes have the same clock. */
async function align(database: Database, clock: SystemClock): Promise<void> {
  clock.alignTo(await databaseNow(database))
}

/** What other processes tell of their commits: whose records there are now. */
function hearRecords(streams: Streams, payload: string): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- told by announce only
  for (const of of JSON.parse(payload) as readonly RecordsOf[]) streams.committed(of)
}

/** What other processes tell of lanes: new work after their commits, and destinations that changed. */
async function hearLanes(deps: Deps, loop: DeliveryLoop): Promise<void> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- told by announce only
  await deps.wakeups.hear(CHANNELS.lanes, (payload) => loop.hint(JSON.parse(payload) as readonly Lane[]))
  await deps.wakeups.hear(CHANNELS.changes, (payload) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- told by lanesChanged only
    const { lanes, halted } = JSON.parse(payload) as LanesChange
    loop.changed(lanes, halted)
  })
}
