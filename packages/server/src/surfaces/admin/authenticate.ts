import type { FastifyRequest } from 'fastify'
import { SECRET_PREFIXES } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { identifyApiKey, type Identified } from '../../resources/api-keys/index.ts'

/** `Authorization: Bearer hk_…` → who is acting, and in which workspace. */
export function authenticate(deps: Deps, request: FastifyRequest): Promise<Identified> {
  const [scheme, token] = (request.headers.authorization ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || token?.startsWith(SECRET_PREFIXES.apiKey) !== true) throw refuse('unauthorized')
  return identifyApiKey({ db: deps.database, now: deps.clock.now() }, token)
}
