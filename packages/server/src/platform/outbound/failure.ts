import { UnreachableError } from '../address-guard.ts'
import type { OutboundFailureCode } from './request.ts'

type Reason = readonly [match: RegExp, code: OutboundFailureCode, detail: string]

const BROKEN = [/^/, 'connection_reset', 'The connection broke before the response headers were complete.'] as const

/** The first match on an error's code decides; BROKEN is the fallback. */
const REASONS: readonly Reason[] = [
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'timeout', 'The host did not accept a connection in time.'],
  [/^ECONNREFUSED$/, 'connection_refused', 'The host refused the connection.'],
  [/^(EHOST|ENET|EADDRNOTAVAIL|EACCES|EPERM)/, 'connection_refused', 'There is no route to the host.'],
  [/^(EMFILE|ENFILE|ENOBUFS)$/, 'connection_refused', 'This server cannot open another connection.'],
  [
    /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|CERTIFICATE_(UNKNOWN|REVOKED|EXPIRED)|UNKNOWN_CA|ACCESS_DENIED|UNSUPPORTED_CERTIFICATE)/,
    'tls_failed',
    'The host asks for a client certificate that it trusts.',
  ],
  [/^CERT_HAS_EXPIRED$/, 'tls_failed', 'The certificate has expired.'],
  [/SELF_SIGNED/, 'tls_failed', 'The certificate is self-signed, or an unknown authority signed it.'],
  [/ALTNAME|HOSTNAME_MISMATCH/, 'tls_failed', 'The certificate is for a different host name.'],
  [/CERT|SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/, 'tls_failed', 'The certificate cannot be trusted.'],
  [/SSL|TLS|^EPROTO$/, 'tls_failed', 'The TLS handshake failed.'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'response_too_large', 'The response headers are longer than 16 KiB.'],
  [/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/, 'invalid_url', 'The request is not valid HTTP.'],
  [/^HPE_/, 'connection_reset', 'The host did not respond with HTTP.'],
  [/CONTENT_LENGTH/, 'connection_reset', 'The length of the response does not match its Content-Length.'],
]

/** Explains a failed connection or a broken answer to the owner of the request. */
export function reasonOf(error: Error): [OutboundFailureCode, string] {
  if (error instanceof UnreachableError) return [error.code, error.message]
  const errorCode = 'code' in error ? String(error.code) : ''
  const [, code, detail] = REASONS.find(([match]) => match.test(errorCode)) ?? BROKEN
  return [code, detail]
}
