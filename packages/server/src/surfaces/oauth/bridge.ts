import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Provider } from 'oidc-provider'
import { requestOf } from './request-of.ts'

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }
type Bridge = {
  readonly provider: Provider
  readonly baseUrl: string
  readonly ip: string | undefined
}
/** The request as the library gets it, where it differs. */
type Changed = { readonly url?: string; readonly body?: string }

/** Lets the library answer the request. */
export async function answerBy(bridge: Bridge, exchange: Exchange, changed: Changed = {}): Promise<FastifyReply> {
  const { request, reply } = exchange
  const asked = asNodeRequest(bridge, request, changed)
  reply.raw.setHeader('Request-Id', request.id)
  reply.hijack()
  const path = (request.url.split('?')[0] ?? '').replace(/(?<=.)\/$/, '')
  await requestOf.run({ id: request.id, path, ip: bridge.ip }, () => bridge.provider.callback()(asked, reply.raw))
  return reply
}

/**
 * The body has been read by now, so the library gets a new stream of it, in UTF-8: the charset that the client named
 * would make other text of the same bytes. The library builds URLs from the host, so it always gets that of PUBLIC_URL.
 */
export function asNodeRequest(
  { baseUrl }: Pick<Bridge, 'baseUrl'>,
  request: FastifyRequest,
  { url, body }: Changed = {},
): IncomingMessage {
  const { host, protocol } = new URL(baseUrl)
  const bytes = Buffer.from(body ?? (typeof request.body === 'string' ? request.body : ''))
  const headers: IncomingHttpHeaders = { ...request.headers }
  for (const name of PROXY_HEADERS) delete headers[name]
  const type = headers['content-type']?.split(';')[0]?.trim()
  Object.assign(headers, {
    host,
    'x-forwarded-proto': protocol.slice(0, -1),
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(bytes.length === 0 ? {} : { 'content-length': String(bytes.length) }),
  })
  const { method, httpVersion, httpVersionMajor, httpVersionMinor, socket } = request.raw
  const stream = Readable.from(bytes.length === 0 ? [] : [bytes])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members of a request that the library and Koa read
  return Object.assign(stream, {
    method,
    url: url ?? request.url,
    headers,
    httpVersion,
    httpVersionMajor,
    httpVersionMinor,
    socket,
  }) as unknown as IncomingMessage
}

const PROXY_HEADERS = [
  'transfer-encoding',
  'content-length',
  'x-forwarded-host',
  'x-forwarded-for',
  'x-forwarded-proto',
] as const
