import { decodeId, LIMITS, type PortalRoute } from '@postroad/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { limitsOf } from '../../domain/workspace/plan.ts'
import { mismatch } from '../../resources/serving/portal-customers/index.ts'
import { identifySession, identifyToken, noteTokenUse, type Guest } from '../../resources/serving/portal-api/index.ts'
import { admitWork } from '../admit-work.ts'
import type { RequestRates } from '../request-rates.ts'
import { readPortalCookie } from './session-cookie.ts'

export type PortalDoor = {
  readonly deps: Deps
  readonly rates: RequestRates
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

export type Admitted = { readonly guest: Guest; readonly accessEndsAt: Date }

/**
 * The checks of the portal API, in their order: the token or the cookie, the header that only the portal's page can
 * set, the rate of the customer, the customer that the page expects, the workspace, and its work.
 */
// oxlint-disable-next-line max-params -- the door, the route, and the exchange
export async function admitGuest(
  door: PortalDoor,
  route: PortalRoute,
  { request, reply }: Exchange,
): Promise<Admitted> {
  const admitted = await identify(door, route, request)
  const { guest } = admitted
  checkRate(door, { key: `portal:${guest.customer}`, most: LIMITS.portalRequestsPer10SecondsMax })
  if (route.path.endsWith('/test'))
    checkRate(door, { key: `portal_test:${guest.customer}`, most: LIMITS.portalTestsPer10SecondsMax })
  checkExpected(guest, request)
  if (guest.is_closed) throw refuse('workspace_closed', CLOSED)
  if (guest.is_suspended && route.whileSuspended === 'refused') throw refuse('workspace_suspended', SUSPENDED)
  const { deps } = door
  admitWork(deps.work, { workspaceId: guest.workspaceId, limits: limitsOf(deps.plans, guest.plan), reply })
  await noteTokenUse(deps, guest)
  return admitted
}

const SUSPENDED =
  'This portal accepts no changes at the moment, and nothing is sent. Ask the company that gave you access.'
const CLOSED = 'This portal is closed. Ask the company that gave you access.'

async function identify({ deps }: PortalDoor, route: PortalRoute, request: FastifyRequest): Promise<Admitted> {
  const { authorization } = request.headers
  if (authorization !== undefined || route.caller === 'token') {
    const guest = await identifyToken(deps, tokenIn(authorization))
    return { guest, accessEndsAt: guest.expires_at }
  }
  const session = await readPortalCookie(deps, request)
  if (session === undefined) throw refuse('portal_token_required')
  requireOwnPage(request)
  return { guest: await identifySession(deps, session), accessEndsAt: new Date(session.endsAt) }
}

/** Contract part 5: the token is taken from this header alone. */
function tokenIn(authorization: string | undefined): string {
  const [scheme, token] = (authorization ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || token === undefined) throw refuse('portal_token_required')
  return token
}

/** Contract part 5: browsers send the cookie from pages of every site, but only the portal can set this header. */
function requireOwnPage({ method, headers }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD' || headers['x-requested-with'] === 'fetch') return
  throw refuse('portal_csrf_header_missing')
}

function checkRate({ deps, rates }: PortalDoor, { key, most }: { key: string; most: number }): void {
  if (rates.take(key, deps.clock.now(), most)) return
  throw new Refusal('rate_limited', { fields: { retry_after: LIMITS.adminRequestsWindowMs / 1_000 } })
}

/** Two tabs share the cookie. The page names its customer, so that it never acts for the customer of the other tab. */
function checkExpected(guest: Guest, { headers }: FastifyRequest): void {
  const expected = headers['service-customer']
  if (expected === undefined) return
  if (typeof expected === 'string' && decodeId('customer', expected) === guest.customer) return
  throw mismatch({ customer_id: guest.customer_id, name: guest.customer_name })
}
