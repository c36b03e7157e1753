import { createDeps } from './app/features.ts'
import { createRest, runToRest, type Rest } from './app/idle.ts'
import { createNotifications, listen, offerLanes, wakeLanes } from './app/messages.ts'
import { createPlatform, type PlatformOptions } from './app/platform.ts'
import { createRoad, type RoadPlants } from './app/road.ts'
import { isAlone } from './config.ts'
import type { Deps } from './context.ts'
import { acceptAll, type AcceptAll } from './pipeline/accept.ts'
import type { DeliverLimits } from './pipeline/deliver/limits.ts'
import { createDeliveryLoop } from './pipeline/deliver/run.ts'
import { createWorkflowEngine } from './pipeline/workflow/run.ts'
import { createDirectory } from './pipeline/directory.ts'
import { systemClock, type Clock, type SystemClock } from './platform/clock.ts'
import type { Database } from './platform/db.ts'
import { createDueBoard } from './platform/due-board.ts'
import { createLeaseLoop } from './platform/lease-loop.ts'
import { createLeases, leasesWhile } from './platform/leases.ts'
import { databaseNow } from './platform/server-facts.ts'
import { createSurfaces } from './surfaces/index.ts'
import type { Patience } from './surfaces/listener.ts'
import type { ListeningSocket } from './surfaces/listening.ts'
import { createStreams } from './surfaces/stream/hub.ts'
import { DUE, listLoops, type LoopName } from './workers/loops.ts'

export const VERSION = '0.1.0'

export type AppOptions = RoadPlants &
  Omit<PlatformOptions, 'clock'> & {
    /** Tests set a custom clock. */
    readonly clock?: Clock
    readonly patience?: Patience
    /** Tests set those that their clock would never reach, because it does not move by itself. */
    readonly deliverLimits?: Partial<DeliverLimits>
    /** Whether another process serves this database, although the settings name only this one. */
    readonly isBeside?: () => boolean
    /** The background loops that start. Tests name theirs, so that nothing else happens beside them. */
    readonly loops?: 'all' | readonly LoopName[]
  }

export type App = Rest & {
  readonly deps: Deps
  /** The road of events that no sender sent. */
  readonly acceptAll: AcceptAll
  /** Starts to listen, to HOST and PORT or to given sockets, and to deliver. Returns the address of the server. */
  start(sockets?: readonly ListeningSocket[]): Promise<{ readonly port: number; readonly baseUrl: string }>
  /** The sockets that it listens to, for a process that takes over. */
  sockets(): readonly ListeningSocket[]
  /** Runs one background loop until it finds nothing due, whether it was started or not. */
  run(name: LoopName): Promise<void>
  /**
   * Answers the requests under way, ends deliveries in flight, and closes. Clients have `patienceMs` to close their
   * connections.
   */
  stop(patienceMs?: number): Promise<void>
}

/** The composition root: builds the parts bottom-up and gives each the parts it may use. */
export function createApp(options: AppOptions): App {
  const { config, loops: wanted = 'all', isBeside = () => false } = options
  const system = systemClock()
  const platform = createPlatform({ ...options, clock: options.clock ?? system })
  const owner = `${process.pid}-${platform.randomText(12)}`
  let port = config.PORT
  const deps = createDeps(platform, {
    ...createNotifications(platform, () => listeners),
    port: () => port,
    resolver: options.resolver,
    deliveryUserAgent: `Postroad/${VERSION}`,
    deliveryStalled: () => loop.stalled(),
  })
  const delivers = config.ROLES.includes('deliver')
  const directory = createDirectory(deps)
  const offer = offerLanes(platform.wakeups)
  const loop = createDeliveryLoop(deps, { owner, offer, limits: options.deliverLimits })
  const streams = createStreams(deps)
  const composed: AcceptAll = (...given) => acceptAll(road, ...given)
  const accept = options.acceptAll?.(composed) ?? composed
  const engine = createWorkflowEngine(deps, {
    acceptAll: accept,
    directory,
    lanes: wakeLanes(deps.wakeups, () => listeners.loop),
  })
  const works = config.ROLES.includes('work')
  const listeners = { directory, streams, loop: delivers ? loop : undefined, engine: works ? engine : undefined }
  const road = createRoad(options, {
    deps,
    directory,
    streams,
    hint: delivers ? loop.hint : undefined,
    beginFirst: delivers ? loop.beginFirst : undefined,
    hintEngine: works ? engine.hint : undefined,
  })
  const surfaces = createSurfaces({
    road,
    streams,
    load: () => loop.load(),
    stalled: () => loop.stalled(),
    askDatabase: () => databaseNow(deps.database),
    version: VERSION,
    patience: options.patience,
  })
  const leases = leasesOf(deps, { owner, isBeside })
  const own = listLoops(deps, {
    pollDirectory: () => directory.poll(),
    alignClock: () => align(deps.database, system),
    flushRejections: () => road.rejections.flush(),
    flushRepeats: () => road.repeats.flush(),
    acceptAll: accept,
    owner,
    workflows: engine,
  }).filter(({ role }) => role === 'every' || config.ROLES.includes(role))
  const isStarted = ({ name }: { readonly name: string }) => wanted === 'all' || wanted.some((one) => one === name)
  const dueBoard = createDueBoard(deps, new Map(Object.entries(DUE).filter(([name]) => isStarted({ name }))))
  const loops = own.map((one) => createLeaseLoop({ ...deps, leases, dueBoard }, { ...one, due: DUE[one.name] }))
  const started = loops.filter(isStarted)
  const rest = createRest({
    deps,
    loops,
    started,
    unanswered: () => surfaces.unanswered(),
    attempts: () => loop.load().requests,
    isEngineAtRest: () => engine.isAtRest(),
  })

  return {
    deps,
    acceptAll: accept,
    start: async (sockets) => {
      await align(deps.database, system)
      await listen(deps, listeners)
      for (const one of started) one.start()
      if (delivers) loop.start()
      if (config.ROLES.includes('web')) port = await surfaces.listen(sockets)
      return { port, baseUrl: deps.baseUrl() }
    },
    sockets: () => surfaces.sockets(),
    run: (name) => runToRest(loops, name),
    ...rest,
    stop: async (patienceMs = 0) => {
      await surfaces.close(patienceMs)
      if (delivers) await loop.stop()
      await Promise.all(loops.map((one) => one.stop()))
      await leases.release().catch((cause: unknown) => deps.log.warn('leases.release_failed', { cause }))
      await flush(road)
      await closePlatform(deps)
    },
  }
}

function leasesOf(
  deps: Deps,
  { owner, isBeside }: { readonly owner: string; readonly isBeside: () => boolean },
): ReturnType<typeof createLeases> {
  const rows = createLeases(deps, owner)
  return isAlone(deps.config) ? leasesWhile(isBeside, rows) : rows
}

/** Writes the counts that only this process knows. */
async function flush({ rejections, repeats, log }: ReturnType<typeof createRoad>): Promise<void> {
  await rejections.flush().catch((cause: unknown) => log.warn('rejections.flush_failed', { cause }))
  await repeats.flush().catch((cause: unknown) => log.warn('repeats.flush_failed', { cause }))
}

/** The error is half the round trip, a few milliseconds at most. The nodes need only agree with each other. */
async function align(database: Database, clock: SystemClock): Promise<void> {
  clock.alignTo(await databaseNow(database))
}

/** Ends everything that leads out of the process, the database last. */
async function closePlatform(deps: Deps): Promise<void> {
  await Promise.all([deps.outbound.close(), deps.customersOutbound.close(), deps.heavy.close()])
  deps.links.close()
  deps.reach.close()
  deps.mailer.close()
  deps.retryLog.close()
  await deps.database.close()
}
