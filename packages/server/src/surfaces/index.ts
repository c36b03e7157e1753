import type { AddressInfo } from 'node:net'
import { READ } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import { refuse } from '../domain/refusal.ts'
import type { Road } from '../pipeline/accept.ts'
import { StartError } from '../platform/embedded-postgres.ts'
import type { HeavyLoad } from '../platform/heavy/heavy.ts'
import { createRouteCalls } from './admin/calls.ts'
import { admit, mountAdmin } from './admin/mount.ts'
import { openApi } from './admin/openapi/index.ts'
import type { Door } from './admin/passage.ts'
import { mountSignIn } from './admin/sign-in/mount.ts'
import { mountSsoConfiguration } from './admin/sso-configuration.ts'
import { mountAgents } from './agents/mount.ts'
import { createBuilds } from './console/build.ts'
import { createConsole } from './console/mount.ts'
import { mountPortalPage } from './console/portal-page.ts'
import { mountData } from './data/mount.ts'
import { mountDocs } from './docs/mount.ts'
import { docsSources } from './docs/guide.ts'
import { DOCS_PAGES } from './docs/pages.ts'
import { mountDocument, ServedDocument } from './docs/served-document.ts'
import { mountHealth } from './health.ts'
import { createSourceIp } from './http.ts'
import { addressOf } from './ingest/address.ts'
import { createIngestHandler } from './ingest/handler.ts'
import { countUnanswered, retire, type Patience } from './listener.ts'
import { mountLlmsText } from './llms-text.ts'
import { mountMcp } from './mcp/mount.ts'
import { createCounters, type Gauge } from './metrics.ts'
import { mountOauth } from './oauth/mount.ts'
import { mountPages } from './pages.ts'
import { createOwnMachineCheck } from './own-machine.ts'
import { keepReserve } from './reserve.ts'
import { createRequestRates } from './request-rates.ts'
import { closeRouter, createRouter } from './router.ts'
import { mountPortal } from './portal/mount.ts'
import { mountSink } from './sink/mount.ts'
import type { Streams } from './stream/hub.ts'
import { mountStream, type Admit } from './stream/mount.ts'

export type Surfaces = {
  listen(): Promise<number>
  /** The requests whose response has not begun. */
  unanswered(): number
  /** Gives clients this long to leave first. */ close(patienceMs: number): Promise<void>
}

export type SurfacesOptions = {
  readonly road: Road
  /** The current load of the delivery loop, for gauges. */
  readonly load: () => { readonly lanes: number; readonly requests: number; readonly unsettled: number }
  /** The database call that the delivery loop has not completed for too long, and since when (ms since 1970). */
  readonly stalled: () => { readonly call: string; readonly since: number } | undefined
  readonly version: string
  readonly streams: Streams
  /** The limits for slow senders; absent: those of the listener. */
  readonly patience?: Patience | undefined
}

const FULL_WARNED_EVERY_MS = 60_000

/** Every surface on one port: ingest on the bare listener, the rest behind the router. */
export function createSurfaces({ road, load, stalled, version, streams, patience }: SurfacesOptions): Surfaces {
  const counters = createCounters()
  const sourceIp = createSourceIp(road.config.TRUST_PROXY)
  const builds = createBuilds()
  const ui = createConsole(builds)
  const router = createRouter(road, (otherwise) => createIngestHandler({ road, sourceIp, counters, otherwise }), {
    page: (request, reply) => ui.page(request, reply),
    patience,
    takesPost: (path) => addressOf(path) !== undefined,
  })
  let [dropped, warnedAt] = [0, -Infinity]
  // At this limit Node closes further connections immediately. They would take descriptors that the database or a
  // delivery may need.
  router.server.maxConnections = road.config.CONNECTIONS_MAX
  keepReserve(router, road.config.CONNECTIONS_MAX)
  router.server.on('drop', () => {
    dropped += 1
    const now = road.clock.now()
    if (now - warnedAt < FULL_WARNED_EVERY_MS) return
    warnedAt = now
    road.log.warn('listener.full', { connections_max: road.config.CONNECTIONS_MAX })
  })
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
  mountHealth(router, road, { counters, gauges, stalled, isOwnMachine })
  const door: Door = { ...road, sourceIp, rates: createRequestRates(road.config.ADMIN_REQUESTS_MAX) }
  mountSignIn(router, { deps: road, sourceIp, rates: door.rates })
  mountAdmin(router, door)
  mountSsoConfiguration(router)
  mountSink(router, road)
  mountStream(router, { road, streams, sourceIp, admit: streamAdmission(door) })
  mountData(router, { deps: road, rates: door.rates, sourceIp })
  mountPortal(router, { deps: road, rates: door.rates, sourceIp })
  mountPortalPage(router, { deps: road, builds })
  mountMcp(router, { deps: road, calls: createRouteCalls(door), version, docs: docsSources })
  mountOauth(router, { deps: road, rates: door.rates, sourceIp, person: personAtDoor(door) })
  mountAgents(router, { deps: road, sourceIp })
  mountLlmsText(router, { deps: road, pages: DOCS_PAGES })
  mountPages(router)
  ui.mount(router)
  const document = new ServedDocument((base) => openApi(base, version))
  mountDocument(router, () => document.at(road.baseUrl()))
  mountDocs(router, () => document.at(road.baseUrl()).document)

  return {
    listen: async () => {
      const { HOST: host, PORT: port } = road.config
      streams.start()
      try {
        await router.listen({ host, port })
      } catch (error) {
        throw new StartError(listenFailure(error, { host, port }), { cause: error })
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
      return (router.server.address() as AddressInfo).port
    },
    unanswered: () => countUnanswered(router.server),
    close: async (patienceMs) => {
      streams.close()
      if (patienceMs > 0) await retire(router.server, patienceMs)
      await closeRouter(router)
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

/** Every role may watch. Without a project in the path, the stream covers the whole workspace. */
function streamAdmission(door: Door): Admit {
  return async (request, reply) => {
    const area = request.routeOptions.url?.includes('project_id') === true ? 'project' : 'workspace'
    const { workspaceId, projectId, limits } = await admit(door, { ...READ, method: 'GET', area }, { request, reply })
    return {
      workspaceId,
      projectId: area === 'project' ? projectId : null,
      connectionsMax: limits?.stream_connections ?? null,
    }
  }
}

/** A person who decides about an agent, in any state of the workspace (contract part 1). No key and no agent may. */
const DECIDES_ABOUT_AGENTS = {
  role: 'viewer',
  scope: 'service:manage',
  callers: 'people',
  whileSuspended: 'allowed',
  whileClosed: 'allowed',
  area: 'workspace',
  refusesIdempotencyKey: true,
} as const

function personAtDoor(door: Door): Parameters<typeof mountOauth>[1]['person'] {
  return async ({ request, reply }) => {
    const method = request.method === 'POST' ? 'POST' : 'GET'
    const { actor, workspaceId } = await admit(door, { ...DECIDES_ABOUT_AGENTS, method }, { request, reply })
    if (actor.kind !== 'person') throw refuse('agent_not_permitted')
    // The person may choose a workspace other than the current one.
    const db = door.database.forSystem
    return {
      ...door,
      database: db,
      db,
      actor,
      workspaceId,
      projectId: '',
      requestId: request.id,
      ip: sourceIpOf(door, request),
    }
  }
}

const sourceIpOf = ({ sourceIp }: Door, { raw }: FastifyRequest): string | undefined => sourceIp(raw)

function listenFailure(error: unknown, at: { host: string; port: number }): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE')
    return `Port ${at.port} on ${at.host} is in use. Set PORT to another one, or stop the program that uses it.`
  if (code === 'EACCES') return `This user cannot open port ${at.port}. Set PORT to a port above 1023.`
  if (code === 'EADDRNOTAVAIL')
    return `This machine has no address ${at.host}. Set HOST to an address of this machine, or to 127.0.0.1.`
  return `Cannot listen on ${at.host}:${at.port}: ${error instanceof Error ? error.message : String(error)}`
}
