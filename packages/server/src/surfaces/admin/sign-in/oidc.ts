import { LIMITS } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../../context.ts'
import { escapeHtml } from '../../../domain/letter.ts'
import { nextPath } from '../../../domain/next-path.ts'
import { refuse, Refusal } from '../../../domain/refusal.ts'
import { beginIdentity, signInByIdentity } from '../../../resources/sign-in/index.ts'
import { pageHeaders } from '../../page-headers.ts'
import { cookiesNamed, sessionCookie, setCookie } from '../session-cookie.ts'
import { visitOf, type DoorParts } from './visit.ts'

const PATH = '/admin/api/session/oidc'
const COOKIE = 'service_sign_in'
const MARK = 'oidc:'

/** What is kept, sealed, in the browser that began: so that nobody can finish a sign-in in another one. */
const Begun = z.object({ state: z.string(), nonce: z.string(), code_verifier: z.string(), next: z.string(), until: z.number() })
type Begun = z.infer<typeof Begun>

/** Sign-in by the identity provider: the browser goes there, and comes back to `callback`. People see pages, not JSON. */
export function mountOidc(fastify: FastifyInstance, parts: DoorParts): void {
  fastify.get(PATH, (request, reply) => asPage(request, reply, () => begin(parts, request, reply)))
  fastify.get(`${PATH}/callback`, (request, reply) => asPage(request, reply, () => finish(parts, request, reply)))
}

async function begin(parts: DoorParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { deps } = parts
  const { url, begun } = await beginIdentity(await visitOf(parts, request), redirectUri(deps))
  const kept: Begun = { ...begun, next: nextPath(queryOf(request).get('next') ?? undefined), until: deps.clock.now() + LIMITS.oidcSignInMs }
  const value = await deps.cookies.seal(MARK + JSON.stringify(kept))
  reply.header('Set-Cookie', setCookie(deps, { name: COOKIE, value, path: PATH, maxAgeMs: LIMITS.oidcSignInMs }))
  return reply.header('Cache-Control', 'no-store').redirect(url, 303)
}

async function finish(parts: DoorParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { deps } = parts
  const ended = setCookie(deps, { name: COOKIE, value: '', path: PATH, maxAgeMs: 0 })
  reply.header('Set-Cookie', ended)
  const begun = await begunIn(deps, request)
  const returned = new URL(redirectUri(deps))
  returned.search = queryOf(request).toString()
  if (begun === undefined || returned.searchParams.get('state') !== begun.state) throw refuse('oidc_state_lost')
  const secret = await signInByIdentity(await visitOf(parts, request), { returned, begun })
  reply.header('Set-Cookie', await sessionCookie(deps, secret))
  return reply.header('Cache-Control', 'no-store').redirect(begun.next, 303)
}

async function begunIn(deps: Deps, request: FastifyRequest): Promise<Begun | undefined> {
  for (const value of cookiesNamed(request, COOKIE)) {
    // oxlint-disable-next-line no-await-in-loop -- there is one, as a rule
    const opened = await deps.cookies.open(value)
    if (opened?.startsWith(MARK) !== true) continue
    const begun = Begun.safeParse(JSON.parse(opened.slice(MARK.length)))
    if (begun.success && begun.data.until > deps.clock.now()) return begun.data
  }
  return undefined
}

/** From PUBLIC_URL, whatever the request calls us. */
const redirectUri = (deps: Deps): string => `${deps.baseUrl()}${PATH}/callback`

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
