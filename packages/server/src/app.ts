import { randomUUID } from 'node:crypto'
import type { Config } from './config.ts'
import { outboundAllow, publicUrl } from './config.ts'
import type { Deps } from './context.ts'
import type { Road } from './pipeline/accept.ts'
import { createDeliveryLoop } from './pipeline/deliver/run.ts'
import { createDirectory } from './pipeline/directory.ts'
import { createAnnounce } from './pipeline/store/announce.ts'
import { createCommit, type Commit } from './pipeline/store/commit.ts'
import { createAddressGuard, createUrlCheck } from './platform/address-guard.ts'
import { systemClock, type Clock, type SystemClock } from './platform/clock.ts'
import { openDatabase, sql, type Database } from './platform/db.ts'
import { randomText, uuidv7 } from './platform/ids.ts'
import type { Log } from './platform/log.ts'
import { createWakeups } from './platform/notify.ts'
import { createOutboundHttp } from './platform/outbound-http.ts'
import type { Storage } from './storage.ts'
import { createSurfaces } from './surfaces/index.ts'
import { createTicker } from './workers/ticker.ts'
import { createUpkeep } from './workers/upkeep.ts'

export const VERSION = '0.1.0'

export type AppOptions = {
  readonly config: Config
  readonly storage: Storage
  readonly log: Log
  /** Tests set their own. */
  readonly clock?: Clock
  /** The chaos runner plants faults here; nothing else does. */
  readonly commit?: (commit: Commit, deps: Deps) => Commit
}

export type App = {
  readonly deps: Deps
  /** Listens, begins to deliver, and gives the address it answers at. */
  start(): Promise<{ readonly port: number; readonly baseUrl: string }>
  /** Answers what is under way, ends deliveries in flight, and closes. */
  stop(): Promise<void>
}

const CHANNELS = { config: 'postroad_config', lanes: 'postroad_lanes' } as const
const ALIGN_MS = 5_000
const POLL_MS = 500

/** The composition root: builds the parts bottom-up and hands each what it may use. */
export function createApp(options: AppOptions): App {
  const { config, log, storage } = options
  const system = systemClock()
  const clock = options.clock ?? system
  const database = openDatabase({ target: storage.target, connectionsMax: 10, applicationName: 'postroad', statementTimeoutMs: 5_000 })
  const roles = new Set(config.ROLES)
  const allow = outboundAllow(config)
  const wakeups = createWakeups(database, (cause) => log.debug('wakeup.not_told', { cause }))
  const deps: Deps = {
    config,
    database,
    clock,
    log,
    cipher: storage.cipher,
    wakeups,
    outbound: createOutboundHttp({ allow }),
    whyUrlRefused: createUrlCheck(createAddressGuard({ allow })),
    baseUrl: () => publicUrl(config, port),
    configChanged: (projectId) => {
      directory.forget(projectId)
      wakeups.tell(CHANNELS.config, projectId)
    },
    lanesChanged: (lanes) => {
      if (roles.has('deliver')) loop.changed(lanes)
      wakeups.tell(CHANNELS.lanes, JSON.stringify(lanes))
    },
    uuid: () => uuidv7(clock.now()),
    randomText,
    random: Math.random,
  }
  let port = config.PORT
  const directory = createDirectory(deps)
  const loop = createDeliveryLoop(deps, { owner: `${process.pid}-${randomUUID()}`, userAgent: `Postroad/${VERSION}` })
  const commit = createCommit(deps)
  const road: Road = {
    ...deps,
    directory,
    commit: options.commit?.(commit, deps) ?? commit,
    announce: createAnnounce((lanes) => (roles.has('deliver') ? loop.hint(lanes) : wakeups.tell(CHANNELS.lanes, JSON.stringify(lanes)))),
  }
  const surfaces = createSurfaces({ road, loop, version: VERSION })
  const tickers = [
    createTicker(deps, { everyMs: POLL_MS, name: 'directory.poll', work: () => directory.poll() }),
    createTicker(deps, { everyMs: ALIGN_MS, name: 'clock.align', work: () => align(database, system) }),
    ...(roles.has('work') ? [createUpkeep(deps)] : []),
  ]

  return {
    deps,
    start: async () => {
      await align(database, system)
      await wakeups.hear(CHANNELS.config, (projectId) => directory.forget(projectId))
      if (roles.has('deliver')) await wakeups.hear(CHANNELS.lanes, (payload) => loop.hint(lanesOf(payload)))
      for (const ticker of tickers) ticker.start()
      if (roles.has('deliver')) loop.start()
      if (!roles.has('web')) return { port: 0, baseUrl: deps.baseUrl() }
      port = await surfaces.listen()
      return { port, baseUrl: deps.baseUrl() }
    },
    stop: async () => {
      await surfaces.close()
      if (roles.has('deliver')) await loop.stop()
      await Promise.all(tickers.map((ticker) => ticker.stop()))
      await deps.outbound.close()
      await database.close()
    },
  }
}

/** Half the round trip is the error, a few milliseconds at most; what matters is that all nodes have the same clock. */
async function align(database: Database, clock: SystemClock): Promise<void> {
  const { now } = await database.one<{ now: number }>(sql`select extract(epoch from clock_timestamp())::float8 * 1000 as now`)
  clock.alignTo(now)
}

function lanesOf(payload: string): readonly { workspaceId: string; destinationId: string }[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- told by lanesChanged and announce only
  return JSON.parse(payload) as readonly { workspaceId: string; destinationId: string }[]
}
