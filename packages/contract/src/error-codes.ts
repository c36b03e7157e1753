/** The reasons why an attempt failed (decisions §6). The last three: no connection through the proxy, no access token, no body from the template. */
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
] as const
