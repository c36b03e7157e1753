import type { ERROR_CODES } from '../error-codes.ts'

/** What each code of a failed attempt means, and what to do about it. */
export const ATTEMPT_ERRORS: Readonly<
  Record<(typeof ERROR_CODES)[number], { readonly meaning: string; readonly remedy: string }>
> = {
  timeout: {
    meaning: 'The destination did not answer within its timeout.',
    remedy: 'Answer first and do slow work afterwards, or raise timeout_ms.',
  },
  connection_refused: {
    meaning: 'Nothing listens at the address.',
    remedy: 'Start the receiver, or correct the host and the port of the URL.',
  },
  connection_reset: {
    meaning: 'The connection was closed before an answer came.',
    remedy: 'Look at the log of the receiver and of the proxy before it.',
  },
  dns_failed: { meaning: 'The host name has no address.', remedy: 'Correct the host name, or its DNS record.' },
  tls_failed: {
    meaning: 'The TLS handshake failed.',
    remedy: 'Renew the certificate of the receiver, or name its authority in tls.ca.',
  },
  blocked_address: {
    meaning: 'The host name leads to a private address.',
    remedy: 'Use a public address, or let the operator add the address to OUTBOUND_ALLOW.',
  },
  redirect: {
    meaning: 'The destination answered with a redirect.',
    remedy: 'Set the URL to where the redirect leads.',
  },
  response_too_large: {
    meaning: 'The answer was larger than 64 KiB.',
    remedy: 'Answer with a short body, or with none.',
  },
  bad_status: {
    meaning: 'The status was not 2xx.',
    remedy: 'Read the answer at the attempt; the log of the receiver has the cause.',
  },
  invalid_url: { meaning: 'The URL cannot be used as a destination.', remedy: 'Correct the URL of the destination.' },
  proxy_failed: {
    meaning: 'The proxy did not open the way.',
    remedy: 'Check the URL, the user name and the password of the proxy.',
  },
  auth_failed: {
    meaning: 'The authorization server gave no access token.',
    remedy: 'Check the token URL, the client id and the client secret.',
  },
  template_failed: {
    meaning: 'The payload template gives no body for this record.',
    remedy: 'Preview the template with this record, and correct it.',
  },
}
