import type { Server } from 'node:http'
import { READ } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import { refuse } from '../domain/refusal.ts'
import type { Road } from '../pipeline/accept.ts'
import { createRouteCalls } from './admin/calls.ts'
import { admit, mountAdmin } from './admin/mount.ts'
import { openApi } from './admin/openapi/index.ts'
import type { Door } from './admin/passage.ts'
import { mountSignIn } from './admin/sign-in/mount.ts'
import { mountSsoConfiguration } from './admin/sso-configuration.ts'
import { mountAgents } from './agents/mount.ts'
import type { Routed } from './behind.ts'
import { createBuilds } from './console/build.ts'
import { createConsole } from './console/mount.ts'
import { mountPortalPage } from './console/portal-page.ts'
import { mountData } from './data/mount.ts'
import { mountDocs } from './docs/mount.ts'
import { docsSources } from './docs/guide.ts'
import { DOCS_PAGES } from './docs/pages.ts'
import { mountDocument, ServedDocument } from './docs/served-document.ts'
import { isHealth } from './health.ts'
import type { createSourceIp } from './http.ts'
import { addressOf } from './ingest/address.ts'
import { mountLlmsText } from './llms-text.ts'
import { mountMcp } from './mcp/mount.ts'
import { mountOauth } from './oauth/mount.ts'
import { mountPages } from './pages.ts'
import { keepReserve } from './reserve.ts'
import { createRequestRates } from './request-rates.ts'
import { createRouter } from './router.ts'
import { mountPortal } from './portal/mount.ts'
import { mountSink } from './sink/mount.ts'
import type { Streams } from './stream/hub.ts'
import { mountWebhookKeys } from './webhook-keys/mount.ts'
import { mountStream, type Admit } from './stream/mount.ts'
import { createUpgrades } from './stream/web-socket.ts'

export type RoutedParts = {
  readonly road: Road
  readonly server: Server
  readonly version: string
  readonly streams: Streams
  readonly sourceIp: ReturnType<typeof createSourceIp>
  readonly isReserveInUse: () => boolean
}

/** The surfaces behind the router: all but ingest and health. `index.ts` imports this file when the first request for one comes. */
export async function createRouted(parts: RoutedParts): Promise<Routed> {
  const { road, server, version, streams, sourceIp, isReserveInUse } = parts
  const builds = createBuilds()
  const ui = createConsole(builds)
  const router = createRouter(road, server, {
    page: (request, reply) => ui.page(request, reply),
    isAnsweredBefore: (method, path) => isHealth(method, path) || (method === 'POST' && addressOf(path) !== undefined),
  })
  const upgrades = createUpgrades((request, response) => router.routing(request, response))
  keepReserve(router, isReserveInUse)
  const door: Door = { ...road, sourceIp, rates: createRequestRates(road.config.ADMIN_REQUESTS_MAX) }
  mountSignIn(router, { deps: road, sourceIp, rates: door.rates })
  mountAdmin(router, door)
  mountSsoConfiguration(router)
  mountSink(router, road)
  mountWebhookKeys(router, { deps: road, rates: door.rates, sourceIp })
  mountStream(router, { road, streams, sourceIp, upgrades, admit: streamAdmission(door) })
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

  await router.ready()
  return {
    route: (request, response) => router.routing(request, response),
    // oxlint-disable-next-line max-params -- the listener of an upgrade
    upgrade: (request, socket, head) => upgrades.take(request, socket, head),
    close: () => router.close(),
  }
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
