import type { IncomingMessage } from 'node:http'
import type { Reason } from '@postroad/contract'

const HOST_UNSAFE = /[\s/\\@?#]/

/**
 * The reason to refuse a request that Node's parser accepts: a proxy and this server could disagree on where it ends or whom it is for,
 * which is how requests are smuggled. Undefined when there is only one way to read it.
 */
export function validateFraming(request: IncomingMessage): string | undefined {
  const { httpVersion, headers, rawHeaders } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'This server supports only HTTP/1.1 and HTTP/1.0.'
  const hosts = countOf(rawHeaders, 'host')
  if (hosts > 1) return 'The request has more than one Host header. Send one.'
  if (hosts === 0 && httpVersion === '1.1') return 'The request has no Host header. Send one.'
  if (headers.host !== undefined && HOST_UNSAFE.test(headers.host))
    return 'The Host header is not a host. Send the host and port of the URL.'
  const coding = headers['transfer-encoding']
  if (coding === undefined) return undefined
  if (httpVersion === '1.0')
    return 'HTTP/1.0 does not support Transfer-Encoding. Send a Content-Length, or use HTTP/1.1.'
  return coding.toLowerCase() === 'chunked' ? undefined : 'The only supported Transfer-Encoding is "chunked".'
}

function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] ?? ''
    if (header.length === name.length && header.toLowerCase() === name) count += 1
  }
  return count
}

const ABSOLUTE = /^https?:\/\/[^/?#]*/i

/** The target as a path. A server must also accept the absolute form (RFC 9112, 3.2.2), and its host can only be this server. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const path = target.replace(ABSOLUTE, '')
  return path === target || path.startsWith('/') ? path : `/${path}`
}

/** The reason for an error of the parser. */
export function reasonOf(error: Error & { readonly code?: string }): Reason {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large'
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'malformed_request'
}
