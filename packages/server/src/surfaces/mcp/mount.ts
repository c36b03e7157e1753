import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SERVICE_VERSION } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { parseJson } from '../../domain/json/json-text.ts'
import { errorBody, Refusal, refuse } from '../../domain/refusal.ts'
import type { RouteCalls } from '../route-calls.ts'
import { challengeOf } from './challenge.ts'
import { messagesIn } from './messages.ts'
import type { DocsSource } from './resources.ts'
import type { McpAnswers } from './server.ts'

type McpDoor = {
  readonly deps: Deps
  readonly calls: RouteCalls
  readonly version: string
  readonly docs: () => readonly DocsSource[]
}
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

const PATH = '/mcp'
/** JSON-RPC code of a 429 (contract part 7, rule 1). */
const TOO_MANY = -32_029

const CORS_ALLOWED =
  'Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Service-Version'
const CORS_EXPOSED = 'Request-Id, Retry-After, Service-Version, WWW-Authenticate'

/**
 * The MCP server at `/mcp` (contract parts 1 and 5). Its tools call contract routes, so every check, verb and audit row is that of the
 * admin API.
 */
export function mountMcp(fastify: FastifyInstance, door: McpDoor): void {
  // The library of the protocol is loaded with the first request.
  let answers: Promise<McpAnswers> | undefined
  const loaded = (): Promise<McpAnswers> => (answers ??= load(door))
  for (const method of ['GET', 'POST', 'DELETE'] as const)
    fastify.route({
      method,
      url: PATH,
      exposeHeadRoute: false,
      handler: async (request, reply) => {
        allowOrigin(door, { request, reply })
        const { count, tool } = messagesIn(request)
        try {
          const entered = await door.calls.enter({ request, reply, count })
          if (tool !== undefined) await entered.refuseAboveGrant(tool)
          return await reply.send(await (await loaded())(asWebRequest(door, { request, reply }), entered))
        } catch (error) {
          if (error instanceof Refusal && error.status === 429) return sendTooMany({ request, reply }, error)
          if (error instanceof Refusal) challenge(door, { request, reply }, error)
          throw error
        }
      },
    })
  fastify.options(PATH, (request, reply) => {
    allowOrigin(door, { request, reply })
    return reply
      .status(204)
      .headers({
        'Access-Control-Allow-Methods': 'GET, POST, DELETE',
        'Access-Control-Allow-Headers': CORS_ALLOWED,
        'Access-Control-Max-Age': '86400',
      })
      .send()
  })
}

/** The way to a valid token, or to a token with a wider scope, for the client (RFC 9728, RFC 6750). */
// oxlint-disable-next-line max-params -- the door, the exchange, and its refusal
function challenge({ deps }: McpDoor, { request, reply }: Exchange, refusal: Refusal): void {
  const sent = request.headers.authorization !== undefined
  const header = challengeOf(refusal, { baseUrl: deps.baseUrl(), sent })
  if (header !== undefined) reply.header('WWW-Authenticate', header)
}

async function load({ deps, version, docs }: McpDoor): Promise<McpAnswers> {
  const { createMcpAnswers } = await import('./server.ts')
  return createMcpAnswers({
    version,
    docs,
    failed: (cause) => deps.log.error('mcp_request.failed', { cause }),
  })
}

/**
 * Refuses pages of other origins, as the protocol requires against DNS rebinding. It allows the origin of this server,
 * and pages of the person's own machine, such as an inspector.
 */
function allowOrigin({ deps }: McpDoor, { request, reply }: Exchange): void {
  const { origin } = request.headers
  if (origin === undefined) return
  if (origin !== new URL(deps.baseUrl()).origin && !isLoopback(origin)) throw refuse('origin_not_allowed', FOREIGN_PAGE)
  reply.headers({
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': CORS_EXPOSED,
    Vary: 'Origin',
  })
}

const FOREIGN_PAGE =
  'Web pages from this origin cannot use the MCP server. Use a client that is not a web page, or one on your machine.'

function isLoopback(origin: string): boolean {
  return URL.canParse(origin) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname)
}

/** The request for the library. It ends when the client leaves. */
function asWebRequest({ deps }: McpDoor, { request, reply }: Exchange): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    if (typeof value === 'string' && !HIDDEN.has(name)) headers.set(name, value)
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const { body, method } = request
  return new Request(new URL(PATH, deps.baseUrl()), {
    method,
    headers,
    signal: gone.signal,
    ...(typeof body === 'string' ? { body } : {}),
  })
}

/** The library needs no credentials, and these describe the body as it was sent. */
const HIDDEN: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'content-length',
  'transfer-encoding',
  'connection',
])

function sendTooMany({ request, reply }: Exchange, refusal: Refusal): FastifyReply {
  const { retry_after: wait } = refusal.fields
  return reply
    .status(refusal.status)
    .headers({ 'Retry-After': String(wait), 'Service-Version': SERVICE_VERSION })
    .type('application/json; charset=utf-8')
    .send({
      jsonrpc: '2.0',
      id: idOf(request.body),
      error: { code: TOO_MANY, message: refusal.message, data: errorBody(refusal) },
    })
}

/** The id of the message, so that the client knows which call it has to repeat; null for a batch. */
function idOf(body: unknown): string | number | null {
  const read = typeof body === 'string' ? parseJson(body) : undefined
  if (read?.ok !== true || typeof read.value !== 'object' || read.value === null || !('id' in read.value)) return null
  const { id } = read.value
  return typeof id === 'string' || typeof id === 'number' ? id : null
}
