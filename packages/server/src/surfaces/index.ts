import type { Road } from '../pipeline/accept.ts'
import type { HeavyLoad } from '../platform/heavy/heavy.ts'
import { createBehind } from './behind.ts'
import { createHealthHandler } from './health.ts'
import { createSourceIp } from './http.ts'
import { createIngestHandler } from './ingest/handler.ts'
import { countUnanswered, createListener, retire, type Patience } from './listener.ts'
import { closeListener, listenAt, listenTo, socketsOf, type ListeningSocket } from './listening.ts'
import { createCounters, type Gauge } from './metrics.ts'
import { createOwnMachineCheck } from './own-machine.ts'
import { createReserve } from './reserve.ts'
import type { Streams } from './stream/hub.ts'

export type Surfaces = {
  /** Listens to HOST and PORT, or to the sockets of a process that this one takes over from. Returns the port. */
  listen(given?: readonly ListeningSocket[]): Promise<number>
  /** The sockets that it listens to. */
  sockets(): readonly ListeningSocket[]
  /** The requests whose response has not begun. */
  unanswered(): number
  /** Gives clients this long to leave first. */
  close(patienceMs: number): Promise<void>
}

export type SurfacesOptions = {
  readonly road: Road
  /** The current load of the delivery loop, for gauges. */
  readonly load: () => { readonly lanes: number; readonly requests: number; readonly unsettled: number }
  /** The database call that the delivery loop has not completed for too long, and since when (ms since 1970). */
  readonly stalled: () => { readonly call: string; readonly since: number } | undefined
  readonly askDatabase: () => Promise<unknown>
  readonly version: string
  readonly streams: Streams
  /** The limits for slow senders; absent: those of the listener. */
  readonly patience?: Patience | undefined
}

const FULL_WARNED_EVERY_MS = 60_000

/** Every surface on one port: ingest and health on the bare listener, the rest behind the router, which loads when it is needed. */
export function createSurfaces(options: SurfacesOptions): Surfaces {
  const { road, load, stalled, askDatabase, version, streams, patience } = options
  const counters = createCounters()
  const sourceIp = createSourceIp(road.config.TRUST_PROXY)
  const behind = createBehind(
    async () =>
      (await import('./routed.ts')).createRouted({ road, server, version, streams, sourceIp, isReserveInUse }),
    (cause) => road.log.error('router.load_failed', { cause }),
  )
  let [dropped, warnedAt] = [0, -Infinity]
  const gauges = (): readonly Gauge[] => {
    const { lanes, requests, unsettled } = load()
    return [
      { name: 'postroad_delivery_lanes', help: 'Destinations this process sends for.', value: lanes },
      { name: 'postroad_delivery_requests', help: 'Delivery requests in progress.', value: requests },
      { name: 'postroad_delivery_unsettled', help: 'Ended attempts that are not written yet.', value: unsettled },
      {
        name: 'postroad_delivery_stalled_seconds',
        help: 'Seconds for which a database call of the delivery loop has failed; 0: none fails.',
        value: stalledSeconds(road.clock.now(), stalled()),
      },
      { name: 'postroad_stream_connections', help: 'Clients of a live stream.', value: streams.count() },
      {
        name: 'postroad_rejections_lost',
        help: 'Refusals since the start that the rejection log does not count.',
        value: road.rejections.lost,
      },
      {
        name: 'postroad_connections_dropped',
        help: 'Connections closed without a response since the start, because CONNECTIONS_MAX was reached.',
        value: dropped,
      },
      ...heavyGauges(road.heavy.load()),
      { name: 'process_resident_memory_bytes', help: 'Resident memory.', value: process.memoryUsage.rss() },
    ]
  }
  const isOwnMachine = createOwnMachineCheck({ sourceIp, publicUrl: road.config.PUBLIC_URL })
  const health = createHealthHandler({ deps: road, askDatabase, counters, gauges, stalled, isOwnMachine }, behind.route)
  const server = createListener(createIngestHandler({ road, sourceIp, counters, otherwise: health }), patience)
  // At this limit Node closes further connections immediately. They would take descriptors that the database or a
  // delivery may need.
  server.maxConnections = road.config.CONNECTIONS_MAX
  const isReserveInUse = createReserve(server, road.config.CONNECTIONS_MAX)
  server.on('upgrade', behind.upgrade)
  server.on('drop', () => {
    dropped += 1
    const now = road.clock.now()
    if (now - warnedAt < FULL_WARNED_EVERY_MS) return
    warnedAt = now
    road.log.warn('listener.full', { connections_max: road.config.CONNECTIONS_MAX })
  })
  return {
    listen: (given) => {
      streams.start()
      return given === undefined
        ? listenAt(server, { host: road.config.HOST, port: road.config.PORT })
        : listenTo(server, given)
    },
    sockets: () => socketsOf(server),
    unanswered: () => countUnanswered(server),
    close: async (patienceMs) => {
      streams.close()
      if (patienceMs > 0) await retire(server, patienceMs)
      await closeListener({ server, router: behind })
    },
  }
}

function heavyGauges({ threads, waiting, ran, cpuMs, faults }: HeavyLoad): readonly Gauge[] {
  const tasks = [...ran.values()].reduce((sum, count) => sum + count, 0)
  return [
    { name: 'postroad_heavy_threads', help: 'Threads for work that takes long.', value: threads },
    { name: 'postroad_heavy_waiting', help: 'Tasks that wait for a thread.', value: waiting },
    { name: 'postroad_heavy_tasks', help: 'Tasks that ran in threads since the start.', value: tasks },
    {
      name: 'postroad_heavy_cpu_seconds',
      help: 'Processor time of these tasks since the start.',
      value: cpuMs / 1_000,
    },
    {
      name: 'postroad_heavy_faults',
      help: 'Tasks that were refused or ended by a limit since the start.',
      value: faults,
    },
  ]
}

function stalledSeconds(now: number, stalled: { readonly since: number } | undefined): number {
  return stalled === undefined ? 0 : Math.floor((now - stalled.since) / 1_000)
}
