import { decodeId, LIMITS } from '@postroad/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { receive, SINK_PATH } from '../../resources/delivery/destination-sinks/index.ts'

/** The largest record, with its envelope. */
const BODY_BYTES_MAX = LIMITS.recordsOfEventBytesMax + 65_536
const SIGNATURES = ['service-signature', 'webhook-signature'] as const

type Params = { readonly workspace: string; readonly destination: string }

/** Destinations that this server receives itself. Each sink accepts the signed deliveries of its destination and returns what it received. */
export function mountSink(fastify: FastifyInstance, deps: Deps): void {
  fastify.register(async (scope) => {
    // The signature covers the bytes, which need not be text.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.post<{ Params: Params }>(
      `${SINK_PATH}/:workspace/:destination`,
      // Reads no body from a sender that does not even claim to have signed it.
      { bodyLimit: BODY_BYTES_MAX, onRequest: async ({ headers }) => requireSignature(headers) },
      async ({ params, headers, body }, reply) => {
        const workspaceId = decodeId('workspace', params.workspace)
        const destinationId = decodeId('destination', params.destination)
        if (workspaceId === undefined || destinationId === undefined) throw refuse('not_found')
        const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
        reply.headers({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
        return receive(deps, { workspaceId, destinationId, headers: singly(headers), body: bytes })
      },
    )
  })
}

function requireSignature(headers: FastifyRequest['headers']): void {
  if (SIGNATURES.some((name) => headers[name] !== undefined)) return
  throw refuse(
    'missing_header',
    'This sink accepts only signed deliveries, and the request has neither a Service-Signature nor a webhook-signature header.',
  )
}

function singly(headers: FastifyRequest['headers']): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : value?.join(', ')]),
  )
}
