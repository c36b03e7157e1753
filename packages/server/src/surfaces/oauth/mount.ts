import type { IncomingMessage } from 'node:http'
import { LIMITS } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Provider } from 'oidc-provider'
import type { Deps } from '../../context.ts'
import { networkOf } from '../../domain/ip-range.ts'
import { parseJson } from '../../domain/json/json-text.ts'
import { Refusal } from '../../domain/refusal.ts'
import { isConnected } from '../../resources/people/connected-agents/index.ts'
import { hasRoom } from '../../resources/people/throttles/index.ts'
import { pageHeaders } from '../page-headers.ts'
import { bodyIn, framed } from '../page.ts'
import type { RequestRates } from '../request-rates.ts'
import { askedScope } from './asked-scope.ts'
import { answerBy } from './bridge.ts'
import { acceptedMetadata, isDocument } from './clients.ts'
import { decideConsent, showConsent } from './consent.ts'
import type { Person } from './decision.ts'
import { decideDevice, showDevice } from './device.ts'
import { problemPage } from './error-page.ts'
import { RESOURCE_METADATA_URLS, resourceMetadata, serverMetadata } from './metadata.ts'
import { METADATA, PATHS } from './paths.ts'
import { createProvider, isOwnOrigin, WHOLE_LADDER } from './provider.ts'
import { requestOf } from './request-of.ts'

type OauthDoor = {
  readonly deps: Deps
  readonly rates: RequestRates
  readonly sourceIp: (request: IncomingMessage) => string | undefined
  /** The person who is signed in, as the ladder of the admin API identifies and admits them. Throws the Refusal. */
  readonly person: (exchange: Exchange) => Promise<Person>
}
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

const HTML = 'text/html; charset=utf-8'
const NO_STORE = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/** The OAuth server (docs/adr/0220). The library speaks the protocol; the pages and the rows of connected agents are ours. */
export function mountOauth(fastify: FastifyInstance, door: OauthDoor): void {
  const { deps } = door
  const provider = keepProvider(door)
  const answer = async (exchange: Exchange, changed?: Parameters<typeof answerBy>[2]): Promise<FastifyReply> => {
    requireRate(door, exchange.request)
    const ip = door.sourceIp(exchange.request.raw)
    return answerBy({ provider: await provider(), baseUrl: deps.baseUrl(), ip }, exchange, changed)
  }

  fastify.get(PATHS.authorization, async (request, reply) => {
    if (request.url.length > LIMITS.authorizationUrlCharsMax)
      return reply
        .status(400)
        .headers({ ...pageHeaders(HTML), ...NO_STORE })
        .send(problemPage(TOO_LONG))
    const query = new URLSearchParams(request.url.split('?')[1] ?? '')
    // A document is fetched only for a person who is signed in, so that nobody else can make the server send requests.
    if (isDocument(query.get('client_id') ?? '') && !(await isSignedIn(door, { request, reply })))
      return toSignIn({ request, reply })
    return answer({ request, reply }, { url: `${PATHS.authorization}?${wholeLadder(query)}` })
  })
  fastify.get(`${PATHS.authorization}/:uid`, (request, reply) => answer({ request, reply }))
  fastify.get(PATHS.jwks, (request, reply) => answer({ request, reply }))
  fastify.post(PATHS.token, BODY, (request, reply) => answer({ request, reply }))
  fastify.post(PATHS.revocation, BODY, (request, reply) => answer({ request, reply }))
  fastify.post(PATHS.device_authorization, BODY, (request, reply) => {
    const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
    return answer({ request, reply }, { body: wholeLadder(form) })
  })
  fastify.post(PATHS.registration, BODY, async (request, reply) => {
    await requireRoom(door, request)
    allowOrigin(deps, { request, reply })
    return answer({ request, reply }, { body: acceptedBody(request.body) })
  })
  for (const path of [PATHS.token, PATHS.revocation, PATHS.device_authorization, PATHS.jwks])
    fastify.options(path, (request, reply) => answer({ request, reply }))
  fastify.options(PATHS.registration, (request, reply) => {
    allowOrigin(deps, { request, reply })
    return reply.status(204).send()
  })
  mountMetadata(fastify, deps)
  mountConsent(fastify, { door, provider })
  mountDevice(fastify, door)
}

const TOO_LONG = `The program sent a request of more than ${LIMITS.authorizationUrlCharsMax} characters. Report this to its developer.`
const BODY = { bodyLimit: LIMITS.oauthBodyBytesMax }

/** The library, loaded with the first request, and again when the address of the server or its keys change. */
function keepProvider(door: OauthDoor): () => Promise<Provider> {
  const { deps } = door
  let kept: { readonly name: string; readonly provider: Promise<Provider> } | undefined
  return () => {
    const name = `${deps.baseUrl()} ${deps.accessTokens.version()}`
    if (kept?.name !== name) kept = { name, provider: createProvider({ deps, mayFetch: mayFetch(deps) }) }
    return kept.provider
  }
}

/**
 * An authorization was started by a person who is signed in, so its requests fetch a document on every process. Before
 * anything else comes from a client, a person has connected it.
 */
function mayFetch(deps: Deps): (clientId: string) => Promise<boolean> {
  return async (clientId) => {
    const { path = '', ip } = requestOf.getStore() ?? {}
    const authorizes = [PATHS.authorization, PATHS.consent].some((at) => path === at || path.startsWith(`${at}/`))
    if (!authorizes) return isConnected(deps, clientId)
    return hasRoom(deps, {
      what: 'oauth_client_document',
      whose: networkOf(ip),
      burst: LIMITS.clientDocumentBurst,
      refillMs: LIMITS.clientDocumentRefillMs,
    })
  }
}

function mountMetadata(fastify: FastifyInstance, deps: Deps): void {
  const open = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=300' }
  const serve = (path: string, document: (baseUrl: string) => object): void => {
    fastify.get(path, (_request, reply) => reply.headers(open).send(document(deps.baseUrl())))
    fastify.options(path, (_request, reply) =>
      reply
        .status(204)
        .headers({ ...open, 'Access-Control-Allow-Methods': 'GET', 'Access-Control-Allow-Headers': '*' })
        .send(),
    )
  }
  serve(METADATA, serverMetadata)
  for (const path of RESOURCE_METADATA_URLS) serve(path, resourceMetadata)
}

function mountConsent(
  fastify: FastifyInstance,
  { door, provider }: { door: OauthDoor; provider: () => Promise<Provider> },
): void {
  const page = framed({
    title: 'Connect a program · Postroad',
    style: 'sign-in',
    script: 'consent',
    main: bodyIn('consent.html'),
  })
  fastify.get(`${PATHS.consent}/:uid`, async (request, reply) =>
    (await isSignedIn(door, { request, reply }))
      ? reply.headers({ ...pageHeaders(HTML), ...NO_STORE }).send(page)
      : toSignIn({ request, reply }),
  )
  const answer = async ({ request, reply }: Exchange, by: typeof showConsent | typeof decideConsent) => {
    const person = await door.person({ request, reply })
    reply.headers(NO_STORE)
    const asking = { request, reply, provider: await provider(), baseUrl: door.deps.baseUrl() }
    // The library reads the document of the client again here, if another process served the authorization or time has passed.
    const at = { id: request.id, path: PATHS.consent, ip: door.sourceIp(request.raw) }
    return reply.send(await requestOf.run(at, () => by(asking, person)))
  }
  fastify.get(`${PATHS.consent}/:uid/request`, (request, reply) => answer({ request, reply }, showConsent))
  fastify.post(`${PATHS.consent}/:uid/request`, BODY, (request, reply) => answer({ request, reply }, decideConsent))
}

function mountDevice(fastify: FastifyInstance, door: OauthDoor): void {
  const page = framed({
    title: 'Connect a device · Postroad',
    style: 'sign-in',
    script: 'device',
    main: bodyIn('device.html'),
  })
  fastify.get(PATHS.code_verification, async (request, reply) =>
    (await isSignedIn(door, { request, reply }))
      ? reply.headers({ ...pageHeaders(HTML), ...NO_STORE }).send(page)
      : toSignIn({ request, reply }),
  )
  fastify.post('/api/oauth/device/request', BODY, async (request, reply) => {
    const person = await door.person({ request, reply })
    return reply.headers(NO_STORE).send(await showDevice(request, person))
  })
  fastify.post('/api/oauth/device/decision', BODY, async (request, reply) => {
    const person = await door.person({ request, reply })
    return reply.headers(NO_STORE).send(await decideDevice(request, person))
  })
}

/**
 * The person chooses the scope, whatever the client asks for, so the library asks for every scope. The consent page
 * shows the requested one.
 */
function wholeLadder(members: URLSearchParams): string {
  members.set('asked_scope', askedScope(members.get('scope')))
  members.set('scope', WHOLE_LADDER)
  // The consent page comes each time, so it answers every other prompt.
  if (members.get('prompt') !== 'none') members.delete('prompt')
  return members.toString()
}

/** The library reads only this body, and refuses `null` because it is not an object. */
function acceptedBody(body: unknown): string {
  const read = typeof body === 'string' ? parseJson(body, LIMITS.adminJsonDepthMax) : undefined
  const value = read?.ok === true ? read.value : null
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? JSON.stringify(acceptedMetadata({ ...value }))
    : 'null'
}

async function isSignedIn(door: OauthDoor, exchange: Exchange): Promise<boolean> {
  try {
    await door.person(exchange)
    return true
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return false
    // The consent page shows the reason when it asks.
    if (error instanceof Refusal && error.status === 403) return true
    throw error
  }
}

function toSignIn({ request, reply }: Exchange): FastifyReply {
  return reply.headers(NO_STORE).redirect(`/sign-in?${new URLSearchParams({ next: request.url }).toString()}`, 303)
}

function requireRate({ deps, rates, sourceIp }: OauthDoor, request: FastifyRequest): void {
  if (rates.take(`oauth:${networkOf(sourceIp(request.raw))}`, deps.clock.now())) return
  throw new Refusal('rate_limited', {
    text: TOO_MANY,
    fields: { retry_after: LIMITS.adminRequestsWindowMs / 1_000 },
  })
}

const TOO_MANY = 'Too many requests from this address. Continue after retry_after seconds.'

/** Anyone may register a client, so the number is limited by network, on all nodes together. */
async function requireRoom({ deps, sourceIp }: OauthDoor, request: FastifyRequest): Promise<void> {
  const [burst, refillMs] = [LIMITS.clientRegistrationBurst, LIMITS.clientRegistrationRefillMs]
  const whose = networkOf(sourceIp(request.raw))
  if (await hasRoom(deps, { what: 'oauth_registration', whose, burst, refillMs })) return
  throw new Refusal('rate_limited', { text: TOO_MANY, fields: { retry_after: refillMs / 1_000 } })
}

function allowOrigin(deps: Deps, { request, reply }: Exchange): void {
  const { origin } = request.headers
  if (origin === undefined || !isOwnOrigin(origin, deps)) return
  // The library writes the rest of the answer itself.
  for (const to of [
    (name: string, value: string) => reply.raw.setHeader(name, value),
    (name: string, value: string) => reply.header(name, value),
  ]) {
    to('Access-Control-Allow-Origin', origin)
    to('Access-Control-Allow-Headers', 'Content-Type')
    to('Vary', 'Origin')
  }
}
