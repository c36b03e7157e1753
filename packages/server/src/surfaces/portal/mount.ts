import type { IncomingMessage } from 'node:http'
import { decodeId, LIMITS, portalRoutes, type PortalRoute } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../../domain/refusal.ts'
import {
  brandingOf,
  portalContext,
  portalVerbs,
  presentGuest,
  type PortalCtx,
} from '../../resources/serving/portal-api/index.ts'
import { readInput } from '../read-input.ts'
import { admitGuest, type PortalDoor } from './ladder.ts'
import { endedPortalCookie, portalCookie } from './session-cookie.ts'

type Door = PortalDoor & { readonly sourceIp: (request: IncomingMessage) => string | undefined }
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }
type AnyVerb = (ctx: PortalCtx, input: object) => Promise<unknown>

/** Answers may contain secrets and belong to one customer, so nobody may store them. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/** `/portal/api/*`: the customer portal API (contract part 4). */
export function mountPortal(fastify: FastifyInstance, door: Door): void {
  for (const [name, route] of Object.entries<PortalRoute>(portalRoutes))
    fastify.route({
      method: route.method,
      url: `/portal/api/${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      onRequest: async (_request, reply) => void reply.headers(HEADERS),
      handler: async (request, reply) => {
        const answer = await answerOf(door, { name, route }, { request, reply })
        return reply.status(route.status).send(route.output.parse(answer))
      },
    })
}

type Asked = { readonly name: string; readonly route: PortalRoute }

async function answerOf(door: Door, { name, route }: Asked, exchange: Exchange): Promise<unknown> {
  const { request } = exchange
  switch (name) {
    case 'branding':
      return brandingOf(door.deps, { id: portalIn(request) })
    case 'openSession':
      return openSession(door, route, exchange)
    case 'closeSession':
      exchange.reply.header('Set-Cookie', endedPortalCookie)
      return { ok: true }
    default: {
      const admitted = await admitGuest(door, route, exchange)
      const ctx = portalContext(door.deps, {
        ...admitted,
        requestId: request.id,
        ip: door.sourceIp(request.raw),
      })
      return verbOf(name)(ctx, readInput(route, request))
    }
  }
}

function verbOf(name: string): AnyVerb {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- portalVerbs has a verb for every other route, or it does not compile
  const run = (portalVerbs as Readonly<Record<string, AnyVerb>>)[name]
  if (run === undefined) throw new Error(`The portal route ${name} has no verb.`)
  return run
}

/** Contract part 5: valid for 8 hours, or until the token expires, whichever is sooner. */
async function openSession(door: Door, route: PortalRoute, { request, reply }: Exchange): Promise<unknown> {
  const { deps } = door
  const { guest } = await admitGuest(door, route, { request, reply })
  readInput(route, request)
  const endsAt = Math.min(guest.expires_at.getTime(), deps.clock.now() + LIMITS.portalSessionMs)
  reply.header('Set-Cookie', await portalCookie(deps, guest, endsAt))
  return { ...presentGuest(guest), expires_at: new Date(endsAt).toISOString() }
}

/** The id in the path of the public route. */
function portalIn({ params }: FastifyRequest): string {
  const text = typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : ''
  const id = decodeId('portal', text)
  if (id === undefined) throw refuse('not_found', 'There is no portal at this address. Check the link.')
  return id
}
