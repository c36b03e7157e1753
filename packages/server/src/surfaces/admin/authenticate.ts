import { SECRET_PREFIXES } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import type { Guards } from '../../domain/people/access.ts'
import { projectRefusal } from '../../domain/people/project-access.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { refuse } from '../../domain/refusal.ts'
import { identifyApiKey, type Identified } from '../../resources/people/api-keys/index.ts'
import { identifyAgent } from '../../resources/people/connected-agents/index.ts'
import { identifySession } from '../../resources/people/sessions/index.ts'
import type { Requested } from '../requested.ts'
import { readSessionCookie } from './session-cookie.ts'

/** The caller, and the workspace that it acts in. */
export type Caller = {
  readonly actor: Actor
  readonly workspaceId: string
  /** The unit that is counted separately: a key, a person or an agent. All sessions of a person share one. */
  readonly credential: string
  /** The key that was sent, to be checked against its allowlist. */
  readonly apiKey?: Identified
}

/** Takes the place of the workspace of a person who is in none. No workspace has this id. */
export const NO_WORKSPACE = '00000000-0000-0000-0000-000000000000'

/** Identifies the caller by `Authorization: Bearer …` or by the session cookie of the console. */
export async function authenticate(
  deps: Deps,
  { request, route }: { request: Requested; route: Pick<Guards, 'withoutWorkspace'> },
): Promise<Caller> {
  const { authorization } = request.headers
  if (authorization !== undefined) return authenticateBearer(deps, authorization)
  const session = await readSessionCookie(deps, request)
  if (session === undefined) throw refuse('unauthorized')
  requireOwnPage(request)
  const { actor, workspaceId } = await identifySession(deps, {
    secret: session,
    withoutWorkspace: route.withoutWorkspace === true ? NO_WORKSPACE : undefined,
  })
  return { actor, workspaceId, credential: `person:${actor.userId}` }
}

/** Identifies the caller by a bearer token alone. Every kind of token that programs send is identified here. */
export async function authenticateBearer(deps: Deps, authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) throw refuse('unauthorized', BEARER_MISSING)
  const token = bearerToken(authorization)
  if (isAccessToken(token)) {
    const { actor, workspaceId } = await identifyAgent(deps, token)
    return { actor, workspaceId, credential: `agent:${actor.agentId}` }
  }
  const apiKey = await identifyApiKey({ db: deps.database, now: deps.clock.now() }, keyIn(token))
  return { actor: apiKey.actor, workspaceId: apiKey.workspaceId, credential: `api_key:${apiKey.actor.keyId}`, apiKey }
}

const BEARER_MISSING =
  'Send an admin API key as "Authorization: Bearer hk_…", or connect with OAuth. A person creates keys in the console.'

function bearerToken(authorization: string): string {
  const [scheme, token = ''] = authorization.split(' ')
  if (scheme?.toLowerCase() !== 'bearer') throw refuse('unauthorized')
  return token
}

/** An access token is a JWT: three parts. */
const isAccessToken = (token: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token)

function keyIn(token: string): string {
  if (!token.startsWith(SECRET_PREFIXES.apiKey)) throw refuse('unauthorized')
  return token
}

/** For routes that no key may call: a one-project key is refused with the list of its routes, as everywhere outside its project. */
export async function refuseOneProjectKey(deps: Deps, { headers }: FastifyRequest): Promise<void> {
  const { authorization } = headers
  if (authorization?.includes(SECRET_PREFIXES.apiKey) !== true) return
  const { actor } = await identifyApiKey(
    { db: deps.database, now: deps.clock.now() },
    keyIn(bearerToken(authorization)),
  )
  const refusal = projectRefusal(actor, { route: { area: 'workspace' }, project: { kind: 'default' } })
  if (refusal !== undefined) throw refusal
}

/** Contract part 5: with a cookie, a change also needs a header that no page of another origin can send. */
export function requireOwnPage(request: Requested): void {
  if (request.method === 'GET' || request.method === 'HEAD' || request.headers['x-requested-with'] !== undefined) return
  throw refuse('csrf_header_missing')
}
