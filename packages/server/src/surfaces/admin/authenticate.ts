import { SECRET_PREFIXES } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import { projectRefusal, type Guards } from '../../domain/people/access.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { refuse } from '../../domain/refusal.ts'
import { identifyApiKey, type Identified } from '../../resources/people/api-keys/index.ts'
import { identifySession } from '../../resources/people/sessions/index.ts'
import { readSessionCookie } from './session-cookie.ts'

/** Who is acting, and in which workspace. */
export type Caller = {
  readonly actor: Actor
  readonly workspaceId: string
  /** What is counted by itself: a key, a person, an agent. The same for all sessions of a person. */
  readonly credential: string
  /** The key that was sent, to be held against its allowlist. */
  readonly apiKey?: Identified
}

/** Stands for the workspace of a person who is in none: no workspace has it. */
export const NO_WORKSPACE = '00000000-0000-0000-0000-000000000000'

/** `Authorization: Bearer hk_…`, or the console's session cookie → who calls. */
export async function authenticate(
  deps: Deps,
  { request, route }: { request: FastifyRequest; route: Pick<Guards, 'withoutWorkspace'> },
): Promise<Caller> {
  const { authorization } = request.headers
  if (authorization !== undefined) {
    const apiKey = await identifyApiKey({ db: deps.database, now: deps.clock.now() }, bearerKey(authorization))
    return { actor: apiKey.actor, workspaceId: apiKey.workspaceId, credential: `api_key:${apiKey.actor.keyId}`, apiKey }
  }
  const session = await readSessionCookie(deps, request)
  if (session === undefined) throw refuse('unauthorized')
  requireOwnPage(request)
  const { actor, workspaceId } = await identifySession(deps, {
    secret: session,
    withoutWorkspace: route.withoutWorkspace === true ? NO_WORKSPACE : undefined,
  })
  return { actor, workspaceId, credential: `person:${actor.userId}` }
}

function bearerKey(authorization: string): string {
  const [scheme, token] = authorization.split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || token?.startsWith(SECRET_PREFIXES.apiKey) !== true)
    throw refuse('unauthorized')
  return token
}

/** For routes that no key can call: a one-project key is refused with the list of its routes, as everywhere outside its project. */
export async function refuseOneProjectKey(deps: Deps, { headers }: FastifyRequest): Promise<void> {
  const { authorization } = headers
  if (authorization?.includes(SECRET_PREFIXES.apiKey) !== true) return
  const { actor } = await identifyApiKey({ db: deps.database, now: deps.clock.now() }, bearerKey(authorization))
  const refusal = projectRefusal(actor, { route: { area: 'workspace' }, project: { kind: 'default' } })
  if (refusal !== undefined) throw refusal
}

/** Contract part 5: with a cookie, a change also needs a header that no foreign page can send. */
export function requireOwnPage(request: FastifyRequest): void {
  if (request.method === 'GET' || request.method === 'HEAD' || request.headers['x-requested-with'] !== undefined) return
  throw refuse('csrf_header_missing')
}
