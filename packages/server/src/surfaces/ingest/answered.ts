import type { IncomingMessage, ServerResponse } from 'node:http'
import { INERT_HEADERS, type CompiledResponse } from '../../domain/capture/endpoint-response.ts'
import type { Answered } from '../../pipeline/types.ts'

const PREFLIGHT_SECONDS = '600'

/** Sends the answer of a handshake in a form that no browser treats as a page, or the answer to a preflight. */
export function sendAnswered(
  response: ServerResponse,
  { requestId, answered }: { readonly requestId: string; readonly answered: Answered },
): void {
  if (response.headersSent || response.destroyed) return
  if (answered.with === 'preflight') {
    response.writeHead(204, [
      'Request-Id',
      requestId,
      'Allow',
      'POST, HEAD, OPTIONS',
      'Access-Control-Allow-Methods',
      'POST',
      // "*" does not include Authorization.
      'Access-Control-Allow-Headers',
      'Authorization, *',
      'Access-Control-Max-Age',
      PREFLIGHT_SECONDS,
    ])
    response.end()
    return
  }
  if (answered.with === 'enabled') {
    response.writeHead(200, ['Request-Id', requestId, 'Content-Length', '0', 'Cache-Control', 'no-store'])
    response.end()
    return
  }
  const { status, contentType, headers, body } = answered
  response.writeHead(status, [
    'Request-Id',
    requestId,
    ...headers,
    'Content-Type',
    contentType === 'text/plain' ? 'text/plain; charset=utf-8' : contentType,
    ...(status === 204 ? [] : ['Content-Length', String(Buffer.byteLength(body))]),
    ...INERT_HEADERS,
  ])
  response.end(body)
}

const PREFERS_CONTRACT = /(?:^|[,;])\s*return\s*=\s*"?representation"?\s*(?:$|[,;])/i

/** The custom response of an endpoint, unless the client prefers the response of the contract (RFC 7240). */
export function ownResponse(
  { headers }: IncomingMessage,
  own: CompiledResponse | undefined,
): CompiledResponse | undefined {
  return own === undefined || PREFERS_CONTRACT.test(String(headers['prefer'] ?? '')) ? undefined : own
}

/** Sends the response of an endpoint in place of that of the contract. */
export function sendOwn(
  response: ServerResponse,
  { requestId, own }: { readonly requestId: string; readonly own: CompiledResponse },
): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(own.status, ['Request-Id', requestId, ...own.headers])
  response.end(own.body)
}

/** Lets pages of an origin read the response. Caches must separate the responses to several origins. */
export function shareWith(response: ServerResponse, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin)
  response.setHeader('Access-Control-Expose-Headers', 'Request-Id, Retry-After')
  if (origin !== '*') response.setHeader('Vary', 'Origin')
}
