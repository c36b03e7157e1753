/** The addresses of the OAuth server. */
export const PATHS = {
  authorization: '/api/oauth/authorize',
  token: '/api/oauth/token',
  revocation: '/api/oauth/revoke',
  registration: '/api/oauth/register',
  jwks: '/api/oauth/jwks',
  device_authorization: '/api/oauth/device_authorization',
  /** The page where a person confirms the code of a device. People may type it. */
  code_verification: '/oauth/device',
  consent: '/api/oauth/consent',
} as const

export const METADATA = '/.well-known/oauth-authorization-server'
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'
