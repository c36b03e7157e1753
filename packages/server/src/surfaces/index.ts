import type { AddressInfo } from 'node:net'
import { READ } from '@postroad/contract'
import type { Road } from '../pipeline/accept.ts'
import { StartError } from '../platform/embedded-postgres.ts'
import { admit, mountAdmin } from './admin/mount.ts'
import { openApi } from './admin/openapi.ts'
import type { Door } from './admin/passage.ts'
import { mountSignIn } from './admin/sign-in/mount.ts'
import { createConsole } from './console/mount.ts'
import { mountReference } from './docs/mount.ts'
import { mountHealth } from './health.ts'
import { createSourceIp } from './http.ts'
import { addressOf } from './ingest/address.ts'
import { createIngestHandler } from './ingest/handler.ts'
import { retire, type Patience } from './listener.ts'
import { createCounters, type Gauge } from './metrics.ts'
import { mountPages } from './pages.ts'
import { createRequestRates } from './request-rates.ts'
import { closeRouter, createRouter } from './router.ts'
import type { Streams } from './stream/hub.ts'
import { mountStream, type Admit } from './stream/mount.ts'

export type Surfaces = { listen(): Promise<number>; /** Gives clients so long to go first. */ close(patienceMs: number): Promise<void> }

export type SurfacesOptions = {
  readonly road: Road
  /** What the delivery loop holds right now, for gauges. */
  readonly load: () => { readonly lanes: number; readonly requests: number; readonly unsettled: number }
  readonly version: string
  readonly streams: Streams
  /** With slow senders; the listener has its own. */
  readonly patience?: Patience | undefined
}

/** Every surface on one port: ingest on the bare listener, the rest behind the router. */
export function createSurfaces({ road, load, version, streams, patience }: SurfacesOptions): Surfaces {
  const counters = createCounters()
  const sourceIp = createSourceIp(road.config.TRUST_PROXY)
  const ui = createConsole()
  const router = createRouter(road, (otherwise) => createIngestHandler({ road, sourceIp, counters, otherwise }), { page: (request, reply) => ui.page(request, reply), patience, takesPost: (path) => addressOf(path) !== undefined })
  const gauges = (): readonly Gauge[] => {
    const { lanes, requests, unsettled } = load()
    return [
      { name: 'postroad_delivery_lanes', help: 'Destinations this process sends for.', value: lanes },
      { name: 'postroad_delivery_requests', help: 'Delivery requests under way.', value: requests },
      { name: 'postroad_delivery_unsettled', help: 'Ended attempts that are not written yet.', value: unsettled },
      { name: 'postroad_stream_connections', help: 'Clients of a live stream.', value: streams.count() },
      { name: 'postroad_rejections_lost', help: 'Refusals since the start that the rejection log does not count.', value: road.rejections.lost },
      { name: 'process_resident_memory_bytes', help: 'Resident memory.', value: process.memoryUsage.rss() },
    ]
  }
  mountHealth(router, road, { counters, gauges })
  const door: Door = { ...road, sourceIp, rates: createRequestRates(road.config.ADMIN_REQUESTS_MAX) }
  mountSignIn(router, { deps: road, sourceIp, rates: door.rates })
  mountAdmin(router, door)
  mountStream(router, { road, streams, sourceIp, admit: streamAdmission(door) })
  mountPages(router)
  ui.mount(router)
  const document = (): ReturnType<typeof openApi> => openApi(road.baseUrl(), version)
  router.get('/openapi.json', document)
  mountReference(router, document)

  return {
    listen: async () => {
      const { HOST: host, PORT: port } = road.config
      streams.start()
      try {
        await router.listen({ host, port })
      } catch (error) {
        throw new StartError(whyNotListening(error, { host, port }), { cause: error })
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
      return (router.server.address() as AddressInfo).port
    },
    close: async (patienceMs) => {
      streams.close()
      if (patienceMs > 0) await retire(router.server, patienceMs)
      await closeRouter(router)
    },
  }
}

/** Every role may watch; without a project in the path, the whole workspace. */
function streamAdmission(door: Door): Admit {
  return async (request, reply) => {
    const area = request.routeOptions.url?.includes('project_id') === true ? 'project' : 'workspace'
    const { workspaceId, projectId } = await admit(door, { ...READ, method: 'GET', area }, { request, reply })
    return { workspaceId, projectId: area === 'project' ? projectId : null }
  }
}

function whyNotListening(error: unknown, at: { host: string; port: number }): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return `Port ${at.port} on ${at.host} is taken. Set PORT to another one, or stop the program that has it.`
  if (code === 'EACCES') return `Port ${at.port} may not be opened by this user. Set PORT to one above 1023.`
  if (code === 'EADDRNOTAVAIL') return `This machine has no address ${at.host}. Set HOST to one of its own, or to 127.0.0.1.`
  return `Cannot listen on ${at.host}:${at.port}: ${error instanceof Error ? error.message : String(error)}`
}
