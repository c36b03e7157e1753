import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { escapeHtml } from '../../../domain/letter.ts'
import { refuse, Refusal } from '../../../domain/refusal.ts'
import { signInByIdentity } from '../../../resources/sign-in/index.ts'
import { pageHeaders } from '../../page-headers.ts'
import { sessionCookie } from '../session-cookie.ts'
import { beginOidc, begunIn, endedBegun, OIDC_PATH, redirectUri } from './begin-oidc.ts'
import { visitOf, type DoorParts } from './visit.ts'

/** Sign-in by the identity provider: the browser goes there, and comes back to `callback`. People see pages, not JSON. */
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

/** A browser gets a refusal as a page; a program gets it as JSON, like everywhere. */
async function asPage(request: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>): Promise<FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal) || request.headers.accept?.includes('text/html') !== true) throw error
    return reply.status(error.status).headers(pageHeaders('text/html; charset=utf-8')).header('Cache-Control', 'no-store').send(problemPage(error.message))
  }
}

function problemPage(sentence: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Not signed in · Postroad</title>
    <link rel="icon" href="data:,">
    <script src="/assets/theme.js"></script>
    <link rel="stylesheet" href="/assets/base.css">
    <link rel="stylesheet" href="/assets/sign-in.css">
  </head>
  <body>
    <header>
      <svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 12h7m0 0c4 0 4-6 9-6m-9 6h9m-9 0c4 0 4 6 9 6" /></svg>
      <strong>Postroad</strong>
    </header>
    <main class="card">
      <h1>Not signed in</h1>
      <p class="lead" role="alert">${escapeHtml(sentence)}</p>
      <p><a class="button primary" href="/sign-in">Back to sign-in</a></p>
    </main>
  </body>
</html>
`
}
