import { SECRET_PREFIXES } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import type { Actor } from '../../domain/actor.ts'
import { refuse } from '../../domain/refusal.ts'
import { identifyApiKey } from '../../resources/api-keys/index.ts'
import { identifySession } from '../../resources/sessions/index.ts'
import { readSessionCookie } from './session-cookie.ts'

/** `Authorization: Bearer hk_…`, or the console's session cookie → who is acting, and in which workspace. */
export async function authenticate(deps: Deps, request: FastifyRequest): Promise<{ actor: Actor; workspaceId: string }> {
  const { authorization } = request.headers
  if (authorization !== undefined) return identifyApiKey({ db: deps.database, now: deps.clock.now() }, bearerKey(authorization))
  const session = readSessionCookie(deps, request)
  if (session === undefined) throw refuse('unauthorized')
  requireOwnPage(request)
  return identifySession(deps, session)
}

function bearerKey(authorization: string): string {
  const [scheme, token] = authorization.split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || token?.startsWith(SECRET_PREFIXES.apiKey) !== true) throw refuse('unauthorized')
  return token
}

/** Contract part 5: with a cookie, a change also needs a header that no foreign page can send. */
export function requireOwnPage(request: FastifyRequest): void {
  if (request.method === 'GET' || request.method === 'HEAD' || request.headers['x-requested-with'] !== undefined) return
  throw refuse('csrf_header_missing')
}
