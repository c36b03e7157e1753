import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse, Refusal } from '../../../domain/refusal.ts'
import { signInByIdentity } from '../../../resources/people/sign-in/index.ts'
import { html } from '../../html.ts'
import { pageHeaders } from '../../page-headers.ts'
import { framed } from '../../page.ts'
import { sessionCookie } from '../session-cookie.ts'
import { beginOidc, begunIn, endedBegun, OIDC_PATH, redirectUri } from './begin-oidc.ts'
import { visitOf, type DoorParts } from './visit.ts'

/** Sign-in with the identity provider: the browser goes there and returns to `callback`. People see pages, not JSON. */
export function mountOidc(fastify: FastifyInstance, parts: DoorParts): void {
  fastify.get(OIDC_PATH, (request, reply) => asPage(request, reply, () => begin(parts, request, reply)))
  fastify.get(`${OIDC_PATH}/callback`, (request, reply) => asPage(request, reply, () => finish(parts, request, reply)))
}

async function begin(parts: DoorParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { url, cookie } = await beginOidc(await visitOf(parts, request), queryOf(request).get('next') ?? undefined)
  reply.header('Set-Cookie', cookie)
  return reply.header('Cache-Control', 'no-store').redirect(url, 303)
}

async function finish(parts: DoorParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { deps } = parts
  reply.header('Set-Cookie', endedBegun(deps))
  const begun = await begunIn(deps, request)
  const returned = new URL(redirectUri(deps))
  returned.search = queryOf(request).toString()
  if (begun === undefined || returned.searchParams.get('state') !== begun.state) throw refuse('oidc_state_lost')
  const secret = await signInByIdentity(await visitOf(parts, request), { returned, begun })
  reply.header('Set-Cookie', await sessionCookie(deps, secret))
  return reply.header('Cache-Control', 'no-store').redirect(begun.next, 303)
}

function queryOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split('?')[1] ?? '')
}

/** A browser gets a refusal as a page, and a program gets it as JSON. */
async function asPage(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal) || request.headers.accept?.includes('text/html') !== true) throw error
    return reply
      .status(error.status)
      .headers(pageHeaders('text/html; charset=utf-8'))
      .header('Cache-Control', 'no-store')
      .send(problemPage(error.message))
  }
}

function problemPage(sentence: string): string {
  const main = html`
    <main class="card">
      <h1>Not signed in</h1>
      <p class="lead" role="alert">${sentence}</p>
      <p><a class="button primary wide" href="/sign-in">Back to sign-in</a></p>
    </main>
  `
  return framed({ title: 'Not signed in · Postroad', style: 'sign-in', main })
}
