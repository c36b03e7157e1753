import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { endSession, redeemSignInLink } from '../../resources/sessions/index.ts'
import { requireOwnPage } from './authenticate.ts'
import { parseJsonBody } from './read-input.ts'
import { checkServiceVersion } from './service-version.ts'
import { endedCookie, readSessionCookie, sessionCookie } from './session-cookie.ts'

const SignIn = z.strictObject({ token: z.string().min(1).max(100) })

/** Signing in by a one-time link and out again. No contract routes: they are where a credential comes from. */
export function mountSession(fastify: FastifyInstance, deps: Deps): void {
  fastify.post('/admin/api/session', async (request, reply) => {
    checkServiceVersion(request, reply)
    requireOwnPage(request)
    const sent = SignIn.safeParse(parseJsonBody(request))
    if (!sent.success) throw refuse('invalid_request', 'Send {"token": "…"} with the token of a sign-in link.')
    reply.header('Set-Cookie', sessionCookie(deps, await redeemSignInLink(deps, sent.data.token)))
    return { ok: true }
  })

  fastify.delete('/admin/api/session', async (request, reply) => {
    checkServiceVersion(request, reply)
    requireOwnPage(request)
    const secret = readSessionCookie(deps, request)
    if (secret !== undefined) await endSession(deps, secret)
    reply.header('Set-Cookie', endedCookie(deps))
    return { ok: true }
  })
}
