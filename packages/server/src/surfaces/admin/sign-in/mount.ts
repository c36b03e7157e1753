import { LIMITS, signInRoutes, type SignInRoute } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { asPerson } from '../../../as-person.ts'
import { Refusal, refuse } from '../../../domain/refusal.ts'
import { findOwnSession, findMembership } from '../../../resources/people/sessions/index.ts'
import type { Visit } from '../../../resources/people/sign-in/index.ts'
import { refuseOneProjectKey, requireOwnPage } from '../authenticate.ts'
import { readInput } from '../../read-input.ts'
import { readIdempotencyKey } from '../../idempotency-key.ts'
import { checkServiceVersion } from '../../service-version.ts'
import { endedCookie, sessionCookie } from '../session-cookie.ts'
import { mountOidc } from './oidc.ts'
import { visitOf, type DoorParts } from './visit.ts'
import { doorVerbs, ownVerbs, type Answered, type Owner } from './verbs.ts'

type Run = (who: Visit | Owner, input: object) => Promise<Answered<object>>

/** Sign-in and accounts: routes that give or need the session cookie, and that no key may call. */
export function mountSignIn(fastify: FastifyInstance, parts: DoorParts): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- doorVerbs and ownVerbs have a verb for every route, or they do not compile
  const verbs = { ...doorVerbs, ...ownVerbs } as unknown as Readonly<Record<string, Run>>
  for (const [name, route] of Object.entries<SignInRoute>(signInRoutes)) {
    const run = verbs[name]
    if (run === undefined) throw new Error(`The route ${name} has no verb.`)
    fastify.route({
      method: route.method,
      url: `/admin/api/${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      handler: (request, reply) => handle({ ...parts, route, run }, request, reply),
    })
  }
  mountOidc(fastify, parts)
}

/** The checks, in order: version, own page, idempotency key, caller, rate, input. Callers without a session are counted by network. */
async function handle(
  serving: DoorParts & { route: SignInRoute; run: Run },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { deps, route, run } = serving
  checkServiceVersion(request, reply)
  requireOwnPage(request)
  readIdempotencyKey(request)
  if (route.caller === 'session') await refuseOneProjectKey(deps, request)
  const visit = await visitOf(serving, request)
  const who = route.caller === 'session' ? await ownerOf(serving, visit) : visit
  const { body, cookie, begun } = await run(who, readInput(route, request))
  if (cookie !== undefined)
    reply.header('Set-Cookie', cookie === 'ended' ? endedCookie(deps) : await sessionCookie(deps, cookie.secret))
  if (begun !== undefined) reply.header('Set-Cookie', begun)
  return route.output.parse(body)
}

async function ownerOf({ rates }: DoorParts, visit: Visit): Promise<Owner> {
  if (visit.cookieSecret === undefined)
    throw refuse('unauthorized', 'This route needs a session. Sign in, and send the session cookie.')
  const session = await findOwnSession(visit, visit.cookieSecret)
  const { id: sessionId, user_id: userId, created_at: signedInAt } = session
  if (!rates.take(`person:${userId}`, visit.clock.now()))
    throw new Refusal('rate_limited', { fields: { retry_after: LIMITS.adminRequestsWindowMs / 1_000 } })
  const workspaceId = (await findMembership(visit.database, session))?.workspaceId ?? null
  const { requestId, ip } = visit
  return { userId, sessionId, signedInAt, ctx: asPerson(visit, { userId, sessionId, workspaceId, requestId, ip }) }
}
