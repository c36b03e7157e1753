import type { IncomingMessage, ServerResponse } from 'node:http'
import { LIMITS, REASONS, SERVICE_VERSION, type ErrorBody } from '@postroad/contract'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Deps } from '../context.ts'
import { errorBody, Refusal, refuse } from '../domain/refusal.ts'
import { DbError } from '../platform/db.ts'
import { checkServiceVersion } from './service-version.ts'
import { newRequestId, type Handler } from './http.ts'
import { createListener, type Patience } from './listener.ts'

type RouterOptions = {
  /** What a path gets that no route has: a page, or undefined. */
  readonly page?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined
  readonly patience?: Patience | undefined
  /** True for a path whose POST is answered before the router: a GET of it is told so. */
  readonly takesPost?: (path: string) => boolean
}

/**
 * Every surface but ingest. The listener is ours, so that ingest answers before any router sees the request.
 * Errors become a body here and nowhere else.
 */
export function createRouter(
  deps: Deps,
  route: (fallback: Handler) => Handler,
  { page, patience, takesPost = () => false }: RouterOptions = {},
): FastifyInstance {
  const fastify = Fastify({
    serverFactory: (handler) =>
      createListener(
        route((request: IncomingMessage, response: ServerResponse) => handler(request, response)),
        patience,
      ),
    // The listener answers what is no request; a URL that is none is an error like any other.
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
    if (isAdmin(request)) checkServiceVersion(request, reply)
    return page?.(request, reply) ?? notFound({ fastify, takesPost }, request, reply)
  })
  return fastify
}

const SILENT_MS = 20_000

/** A listener that is closed looks for slow senders no more: who says nothing for so long would keep the process for ever. */
export async function closeRouter(fastify: Pick<FastifyInstance, 'close' | 'server'>): Promise<void> {
  // oxlint-disable-next-line house/no-ambient -- sockets are waited for in real time, whatever the clock says
  const cut = setTimeout(() => fastify.server.closeAllConnections(), SILENT_MS)
  try {
    await fastify.close()
  } finally {
    clearTimeout(cut)
  }
}

const ADMIN_HEADERS = {
  'Service-Version': SERVICE_VERSION,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}

const isAdmin = ({ url }: FastifyRequest): boolean => url.startsWith('/admin/api')

/** Contract part 9: every answer under /admin/api says its version, also when no route is there. None is stored or sniffed on the way. */
function identified(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (isAdmin(request)) reply.headers(ADMIN_HEADERS)
  return reply.header('Request-Id', request.id)
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

type Routes = { readonly fastify: FastifyInstance; readonly takesPost: (path: string) => boolean }

function notFound({ fastify, takesPost }: Routes, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const url = request.url.split('?')[0] ?? '/'
  const answers = (method: (typeof METHODS)[number]): boolean =>
    fastify.findRoute({ method, url }) !== null || (method === 'POST' && takesPost(url))
  const allowed = METHODS.filter((method) => method !== request.method && answers(method))
  const refusal =
    allowed.length > 0
      ? refuse('method_not_allowed', `This address does not answer to ${request.method}. Use ${allowed.join(' or ')}.`)
      : refuse('route_not_found')
  if (allowed.length > 0) reply.header('Allow', allowed.join(', '))
  return reply.status(refusal.status).send(errorBody(refusal))
}

function answerError(
  deps: Deps,
  at: { error: FastifyError; request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const { error, request, reply } = at
  const refusal = asRefusal(error)
  if (refusal.status >= 500)
    deps.log.error('request.failed', {
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.url,
      cause: error,
    })
  if (refusal.status === 401) reply.header('WWW-Authenticate', 'Bearer')
  const body: ErrorBody = errorBody(refusal)
  if (body.retry_after !== undefined) reply.header('Retry-After', String(body.retry_after))
  return reply.status(refusal.status).send(body)
}

function asRefusal(error: FastifyError): Refusal {
  if (error instanceof Refusal) return error
  if (error.statusCode === 413)
    return refuse('payload_too_large', `The body is larger than ${LIMITS.adminBodyBytesMax} bytes. Send less at once.`)
  // These would repeat the URL, and credentials stand in URLs.
  if (error.code === 'FST_ERR_BAD_URL')
    return refuse('invalid_request', 'The URL has a % that is no escape. Write a bare % as %25.')
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH')
    return refuse('invalid_request', 'A part of the URL is longer than any that is served here.')
  if (error.statusCode !== undefined && error.statusCode < 500) return refuse('invalid_request', error.message)
  if (error instanceof DbError && error.unavailable) {
    return new Refusal('overloaded', {
      text: 'The database does not answer just now. Try again in a moment.',
      fields: { retry_after: 1 },
      cause: error,
    })
  }
  return new Refusal('internal', { text: REASONS.internal.text, cause: error })
}
