/**
 * The reasons why an attempt failed (decisions §6). After `invalid_url`: no connection through the proxy, no access to the destination or no
 * token, no body from the template, and two of destinations beyond HTTP: it refused the event, or the event is larger than it takes.
 */
export const ERROR_CODES = [
  'timeout',
  'connection_refused',
  'connection_reset',
  'dns_failed',
  'tls_failed',
  'blocked_address',
  'redirect',
  'response_too_large',
  'bad_status',
  'invalid_url',
  'proxy_failed',
  'auth_failed',
  'template_failed',
  'refused',
  'event_too_large',
] as const
