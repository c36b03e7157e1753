import type { IncomingMessage } from 'node:http'
import { LIMITS } from '@postroad/contract'
import type { FastifyError, FastifyInstance } from 'fastify'
import pLimit from 'p-limit'
import type { Deps } from '../../context.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { issueChallenge, registerAgent, requireOpen } from '../../resources/people/agent-accounts/index.ts'
import { readIdempotencyKey } from '../idempotency-key.ts'
import { readRegistration } from './read-registration.ts'

type AgentsDoor = {
  readonly deps: Deps
  readonly sourceIp: (request: IncomingMessage) => string | undefined
}

/** The answers contain a challenge or a key, so nobody may store them. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/** `/v1/agents/*`: an agent registers an account for itself by proof of work (contract part 1). */
export function mountAgents(fastify: FastifyInstance, { deps, sourceIp }: AgentsDoor): void {
  const inTurn = turns()
  fastify.get('/v1/agents/register/challenge', { exposeHeadRoute: false }, async (request, reply) => {
    reply.headers(HEADERS)
    return inTurn(() => issueChallenge(deps, { ip: sourceIp(request.raw) }))
  })
  fastify.post(
    '/v1/agents/register',
    {
      bodyLimit: LIMITS.agentRegistrationBodyBytesMax,
      errorHandler: (error: FastifyError) => {
        throw error.statusCode === 413 ? refuse('body_too_large') : error
      },
    },
    async (request, reply) => {
      reply.headers(HEADERS)
      const registered = await inTurn(async () => {
        // First, so that nobody repairs a request that no one serves.
        const { settings } = await requireOpen(deps)
        const idempotencyKey = readIdempotencyKey(request)
        const body = readRegistration(request.body, settings)
        return registerAgent(deps, { body, settings, idempotencyKey, ip: sourceIp(request.raw), requestId: request.id })
      })
      return reply.status(201).send(registered)
    },
  )
}

/**
 * Strangers send these requests without a key, as many as they like. A process works on one at a time, so that a flood
 * takes one database connection and little time from ingest.
 */
function turns(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const limit = pLimit(1)
  return (work) => {
    if (limit.pendingCount < LIMITS.agentRegistrationsWaitingMax) return limit(work)
    throw new Refusal('agent_registration_unavailable', { fields: { retry_after: 1 } })
  }
}
