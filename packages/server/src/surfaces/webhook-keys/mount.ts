import type { IncomingMessage } from 'node:http'
import { decodeId, LIMITS } from '@postroad/contract'
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../context.ts'
import { networkOf } from '../../domain/ip-range.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { publishedKeySet } from '../../resources/delivery/destinations/index.ts'
import type { RequestRates } from '../request-rates.ts'

type Parts = {
  readonly deps: Deps
  readonly rates: RequestRates
  readonly sourceIp: (request: IncomingMessage) => string | undefined
}

/** Every page may read public keys, and caches may store them for less than the shortest overlap. */
const HEADERS = {
  'Cache-Control': `public, max-age=${LIMITS.publishedKeysCacheSeconds}`,
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
}

type Params = { readonly project: string; readonly destination?: string }

/**
 * The public keys that verify the deliveries of a project, without authentication: those of its own destinations, or of one destination
 * by its id. Destinations of customers are not listed, so that nobody can count the customers.
 */
export function mountWebhookKeys(fastify: FastifyInstance, { deps, rates, sourceIp }: Parts): void {
  for (const url of ['/.well-known/webhook-keys/:project', '/.well-known/webhook-keys/:project/:destination'])
    fastify.get<{ Params: Params }>(url, async (request, reply) => {
      if (!rates.take(`webhook-keys:${networkOf(sourceIp(request.raw))}`, deps.clock.now()))
        throw new Refusal('rate_limited', {
          text: TOO_MANY,
          fields: { retry_after: LIMITS.adminRequestsWindowMs / 1_000 },
        })
      const projectId = decodeId('project', request.params.project)
      const { destination } = request.params
      const destinationId = destination === undefined ? null : decodeId('destination', destination)
      if (projectId === undefined || destinationId === undefined) throw refuse('not_found', UNKNOWN)
      const set = await publishedKeySet(deps, { projectId, destinationId })
      if (destinationId !== null && set.keys.length === 0) throw refuse('not_found', UNKNOWN)
      return reply.headers(HEADERS).send(set)
    })
}

const TOO_MANY = 'Too many requests from this address. Cache the keys, and continue after retry_after seconds.'
const UNKNOWN =
  'There are no public keys at this address. Copy the address from the destination; only the schemes ed25519 and both have keys.'
