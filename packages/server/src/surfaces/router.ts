import type { Server } from 'node:http'
import { LIMITS, REASONS, SERVICE_VERSION, type ErrorBody } from '@postroad/contract'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Deps } from '../context.ts'
import { errorBody, Refusal, refuse } from '../domain/refusal.ts'
import { checkServiceVersion } from './service-version.ts'
import { newRequestId } from './http.ts'
import { overloadedBy } from './overloaded.ts'

type RouterOptions = {
  /** The response for a path without a route: a page, or undefined. */
  readonly page?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined
  /** Whether such a request is answered before the router, so that other methods of its path are refused with 405. */
  readonly isAnsweredBefore?: (method: string, path: string) => boolean
}

/**
 * The router of every surface except ingest and health. The server is the caller's, which passes the requests that it does not answer
 * before to `routing`. Errors become a body here and nowhere else.
 */
export function createRouter(
  deps: Deps,
  server: Server,
  { page, isAnsweredBefore = () => false }: RouterOptions = {},
): FastifyInstance {
  const fastify = Fastify({
    serverFactory: () => server,
    // The listener answers bytes that are not a request. An invalid URL is an error like any other.
    clientErrorHandler: () => undefined,
    frameworkErrors: (error, request, reply) =>
      void answerError(deps, { error, request, reply: identified(request, reply) }),
    genReqId: newRequestId,
    bodyLimit: LIMITS.adminBodyBytesMax,
    logger: false,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true },
  })
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  fastify.addHook('onRequest', async (request, reply) => {
    identified(request, reply)
  })
  fastify.setErrorHandler((error: FastifyError, request, reply) => answerError(deps, { error, request, reply }))
  fastify.setNotFoundHandler((request, reply) => {
    if (isVersioned(request)) checkServiceVersion(request, reply)
    return page?.(request, reply) ?? notFound({ fastify, isAnsweredBefore }, request, reply)
  })
  return fastify
}

const ADMIN_HEADERS = {
  'Service-Version': SERVICE_VERSION,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}

/** The surfaces on which every response carries its version (contract part 9). */
const isVersioned = ({ url }: FastifyRequest): boolean => /^\/(?:admin\/api|mcp(?![^/?]))/.test(url)

/** Contract part 9: every response under /admin/api and /mcp carries its version, even if no route is there. None may be cached or sniffed. */
function identified(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (isVersioned(request)) reply.headers(ADMIN_HEADERS)
  return reply.header('Request-Id', request.id)
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

type Routes = { readonly fastify: FastifyInstance } & Required<Pick<RouterOptions, 'isAnsweredBefore'>>

function notFound({ fastify, isAnsweredBefore }: Routes, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const url = request.url.split('?')[0] ?? '/'
  const answers = (method: (typeof METHODS)[number]): boolean =>
    fastify.findRoute({ method, url }) !== null || isAnsweredBefore(method, url)
  const allowed = METHODS.filter((method) => method !== request.method && answers(method))
  const refusal =
    allowed.length > 0
      ? refuse('method_not_allowed', `This address does not support ${request.method}. Use ${allowed.join(' or ')}.`)
      : refuse('route_not_found')
  if (allowed.length > 0) reply.header('Allow', allowed.join(', '))
  return reply.status(refusal.status).send(errorBody(refusal))
}

function answerError(
  deps: Deps,
  at: { error: FastifyError; request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const { error, request, reply } = at
  const refusal = asRefusal(error, request)
  // A refusal without a cause is a decision of the server, such as a full queue: nobody has to act on it.
  if (refusal.status >= 500 && refusal.cause !== undefined)
    deps.log.error('request.failed', {
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.url,
      cause: error,
    })
  if (refusal.status === 401 && !reply.hasHeader('WWW-Authenticate')) reply.header('WWW-Authenticate', 'Bearer')
  const body: ErrorBody = errorBody(refusal)
  if (body.retry_after !== undefined) reply.header('Retry-After', String(body.retry_after))
  return reply.status(refusal.status).send(body)
}

function asRefusal(error: FastifyError, request: FastifyRequest): Refusal {
  if (error instanceof Refusal) return error
  if (error.statusCode === 413)
    return refuse(
      'payload_too_large',
      `The body is larger than ${request.routeOptions.bodyLimit} bytes. Send a smaller body.`,
    )
  // The messages of the library repeat the URL, and a URL may contain a credential.
  if (error.code === 'FST_ERR_BAD_URL')
    return refuse(
      'invalid_request',
      'The URL contains a % that is not part of an escape sequence. Write a bare % as %25.',
    )
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH')
    return refuse('invalid_request', 'A segment of the URL is too long. Check the URL.')
  if (error.statusCode !== undefined && error.statusCode < 500) return refuse('invalid_request', error.message)
  return overloadedBy(error) ?? new Refusal('internal', { text: REASONS.internal.text, cause: error })
}
