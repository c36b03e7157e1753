import { UnreachableError } from '../address-guard.ts'
import { Breach } from '../guarded/breach.ts'
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
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|RECORD_LAYER_FAILURE/,
    'tls_failed',
    'The host does not speak TLS on this port. Check the port and the protocol of the URL.',
  ],
  [
    /UNSUPPORTED_PROTOCOL|ALERT_PROTOCOL_VERSION/,
    'tls_failed',
    'The host does not offer TLS 1.2 or 1.3, and older versions are not secure.',
  ],
  [
    /ALERT_HANDSHAKE_FAILURE|NO_SHARED_CIPHER/,
    'tls_failed',
    'The host accepts none of the offered ciphers, or it asks for a client certificate.',
  ],
  [/UNRECOGNIZED_NAME/, 'tls_failed', 'The host has no certificate for this host name.'],
  [/NO_APPLICATION_PROTOCOL/, 'tls_failed', 'The host offers neither HTTP/1.1 nor HTTP/2.'],
  [/KEY_TOO_SMALL|MD_TOO_WEAK/, 'tls_failed', 'The certificate has a key or a signature that is too weak.'],
  [/^ERR_TLS_NOT_OFFERED$/, 'tls_failed', 'The server does not offer an encrypted connection.'],
  [/^CERT_HAS_EXPIRED$/, 'tls_failed', 'The certificate has expired.'],
  [/^CERT_NOT_YET_VALID$/, 'tls_failed', 'The certificate is not valid yet. Check the clock of the host.'],
  [/SELF_SIGNED/, 'tls_failed', 'The certificate is self-signed, or an unknown authority signed it.'],
  [
    /^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/,
    'tls_failed',
    'The host does not send the whole certificate chain, or an unknown authority signed it.',
  ],
  [/ALTNAME|HOSTNAME_MISMATCH/, 'tls_failed', 'The certificate is for a different host name.'],
  [/CERT|SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/, 'tls_failed', 'The certificate cannot be trusted.'],
  [/SSL|TLS|^EPROTO$/, 'tls_failed', 'The TLS handshake failed.'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'response_too_large', 'The response headers are longer than 64 KiB.'],
  [/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/, 'invalid_url', 'The request is not valid HTTP.'],
  [
    /CONTENT_LENGTH/,
    'connection_reset',
    'The response headers contradict each other about the length of the body (Content-Length, Transfer-Encoding).',
  ],
]

/** Causes that only the message of an error reveals. */
const SAYS: readonly Reason[] = [
  [
    /before secure TLS connection was established/,
    'connection_reset',
    'The host closed the connection during the TLS handshake.',
  ],
  [/^bad upgrade$/, 'connection_reset', 'The host switched to another protocol, which the request did not ask for.'],
]

/** Explains a failed connection or a broken answer to the owner of the request. */
export function reasonOf(error: Error): [OutboundFailureCode, string] {
  if (error instanceof UnreachableError || error instanceof Breach) return [error.code, error.message]
  if (error.name === 'HTTPParserError') return ['connection_reset', notValid(error)]
  const errorCode = 'code' in error ? String(error.code) : ''
  const [, code, detail] =
    SAYS.find(([match]) => match.test(error.message)) ?? REASONS.find(([match]) => match.test(errorCode)) ?? BROKEN
  // OpenSSL names the cause of an error that has no sentence here.
  const cause = code === 'tls_failed' && 'reason' in error ? openSslCause(error.reason, detail) : ''
  return [code, cause === '' ? detail : `${detail.slice(0, -1)}: ${cause}.`]
}

const openSslCause = (reason: unknown, detail: string): string =>
  typeof reason === 'string' && detail === 'The TLS handshake failed.' ? reason.slice(0, CAUSE_CHARS_MAX) : ''

const CAUSE_CHARS_MAX = 200

/** The parser ends its message with its cause in parentheses. */
function notValid({ message }: Error): string {
  const [, cause] = /\(([^()]*(?:\([^()]*\)[^()]*)*)\)$/.exec(message) ?? []
  return cause === undefined ? 'The response is not valid HTTP.' : `The response is not valid HTTP: ${cause}.`
}
