import type { IncomingMessage } from 'node:http'
import type { Reason } from '@postroad/contract'

const HOST_UNSAFE = /[\s/\\@?#]/

/**
 * Why a request that node's parser let through is still refused: two readers of it, a proxy and we, could disagree on
 * where it ends or whom it is for, and that is how requests are smuggled. Undefined when there is one way to read it.
 */
export function whyAmbiguous(request: IncomingMessage): string | undefined {
  const { httpVersion, headers, rawHeaders } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'Only HTTP/1.1 and HTTP/1.0 are spoken here.'
  const hosts = countOf(rawHeaders, 'host')
  if (hosts > 1) return 'The request has more than one Host header. Send one.'
  if (hosts === 0 && httpVersion === '1.1') return 'The request has no Host header. Send one.'
  if (headers.host !== undefined && HOST_UNSAFE.test(headers.host))
    return 'The Host header is not a host. Send the host and port of the URL.'
  const coding = headers['transfer-encoding']
  if (coding === undefined) return undefined
  if (httpVersion === '1.0') return 'HTTP/1.0 has no Transfer-Encoding. Send a Content-Length, or HTTP/1.1.'
  return coding.toLowerCase() === 'chunked' ? undefined : 'The only Transfer-Encoding taken here is "chunked".'
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

/** The target as a path: a server must take the absolute form too (RFC 9112, 3.2.2), and it names no other server than this one. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const path = target.replace(ABSOLUTE, '')
  return path === target || path.startsWith('/') ? path : `/${path}`
}

/** What the parser could not read, as a reason. */
export function reasonOf(error: Error & { readonly code?: string }): Reason {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large'
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'malformed_request'
}
