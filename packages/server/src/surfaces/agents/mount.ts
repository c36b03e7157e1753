import type { IncomingMessage } from 'node:http'
import { LIMITS } from '@postroad/contract'
import type { FastifyError, FastifyInstance } from 'fastify'
import type { Deps } from '../../context.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { createTurns } from '../../platform/turns.ts'
import {
  countedRefusal,
  issueChallenge,
  registerAgent,
  requireOpen,
} from '../../resources/people/agent-accounts/index.ts'
import { readIdempotencyKey } from '../idempotency-key.ts'
import { readRegistration } from './read-registration.ts'

type AgentsDoor = {
  readonly deps: Deps
  readonly sourceIp: (request: IncomingMessage) => string | undefined
}

/** The answers contain a challenge or a key, so nobody may store them. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/**
 * Strangers send these requests without a key, as many as they like. A process works on one at a time, so that a flood
 * takes one database connection and little time from ingest.
 */
const TURNS = {
  atOnce: 1,
  waiting: {
    max: LIMITS.agentRegistrationsWaitingMax,
    busy: () => new Refusal('agent_registration_unavailable', { fields: { retry_after: 1 } }),
  },
}

/** `/v1/agents/*`: an agent registers an account for itself by proof of work (contract part 1). */
export function mountAgents(fastify: FastifyInstance, { deps, sourceIp }: AgentsDoor): void {
  const inTurn = createTurns(TURNS)
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
        const ip = sourceIp(request.raw)
        const read = async () => ({
          idempotencyKey: readIdempotencyKey(request),
          body: readRegistration(request.body, settings),
        })
        const asked = await read().catch((refusal: unknown) => countedRefusal(deps, { refusal, ip }))
        return registerAgent(deps, { ...asked, settings, ip, requestId: request.id })
      })
      return reply.status(201).send(registered)
    },
  )
}
