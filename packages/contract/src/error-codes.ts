/**
 * The reasons why an attempt failed (decisions §6). The codes after `invalid_url` are: no connection through the proxy,
 * no access to the destination or no token, no body from the template or the transform, and for destinations beyond HTTP a refused event
 * or an event that is larger than the destination takes.
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
  'transform_failed',
  'refused',
  'event_too_large',
] as const
