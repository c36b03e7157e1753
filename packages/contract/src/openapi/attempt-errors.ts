import type { ERROR_CODES } from '../error-codes.ts'

/** The meaning and the remedy of each code of a failed attempt. */
export const ATTEMPT_ERRORS: Readonly<
  Record<(typeof ERROR_CODES)[number], { readonly meaning: string; readonly remedy: string }>
> = {
  timeout: {
    meaning: 'The destination did not respond within its timeout.',
    remedy: 'Respond before you do slow work, or raise timeout_ms.',
  },
  connection_refused: {
    meaning: 'Nothing listens at the address.',
    remedy: 'Start the receiver, or correct the host and the port of the URL.',
  },
  connection_reset: {
    meaning: 'The connection was closed before a response arrived, or the response is not of the right protocol.',
    remedy: 'Read error_detail, and check the logs of the receiver and of any proxy in front of it.',
  },
  dns_failed: { meaning: 'The host name has no address.', remedy: 'Correct the host name, or its DNS record.' },
  tls_failed: {
    meaning: 'The TLS handshake failed. error_detail has the cause.',
    remedy: 'Renew the certificate of the receiver, or add its CA certificate to tls.ca.',
  },
  blocked_address: {
    meaning: 'The host name resolves to a private address.',
    remedy: 'Use a public address, or ask the operator to add the address to OUTBOUND_ALLOW.',
  },
  redirect: {
    meaning: 'The destination responded with a redirect.',
    remedy: 'Set the URL to the target of the redirect.',
  },
  response_too_large: {
    meaning: 'The destination sent too many interim responses, or more than Postroad reads for one event.',
    remedy: 'Check that the URL leads to a server of the right kind.',
  },
  bad_status: {
    meaning: 'The status was not 2xx.',
    remedy: 'Read the response in the attempt. The log of the receiver contains the cause.',
  },
  invalid_url: { meaning: 'The URL cannot be used as a destination.', remedy: 'Correct the URL of the destination.' },
  proxy_failed: {
    meaning: 'The proxy did not open a connection.',
    remedy: 'Check the URL, username and password of the proxy.',
  },
  auth_failed: {
    meaning: 'The authorization server returned no access token, or the destination did not accept the credentials.',
    remedy:
      'Check `auth` of the destination: the user or key, its secret and its permissions, or the token URL and the client.',
  },
  template_failed: {
    meaning: 'The payload template renders no body for this record.',
    remedy: 'Preview the template with this record, and correct it.',
  },
  transform_failed: {
    meaning: 'The transform of the destination threw, took too long, or returned something that cannot be sent.',
    remedy: 'Read error_detail, which has the message and the line. Correct the code and replay the delivery.',
  },
  refused: {
    meaning: 'The destination (not an HTTP receiver) responded and did not accept the event.',
    remedy: 'Read error_detail, which contains the response, and correct the destination or its config.',
  },
  event_too_large: {
    meaning: 'The event is larger than the destination accepts. The delivery has failed and is not retried.',
    remedy: 'Raise the limit of the destination, or make the body smaller with a payload template.',
  },
}
