import { SCOPES } from '@postroad/contract'
import { PATHS, RESOURCE_METADATA } from './paths.ts'

/** RFC 8414, with only the features of this server: the library would add members of OpenID Connect. */
export function serverMetadata(baseUrl: string): object {
  return {
    issuer: baseUrl,
    authorization_endpoint: baseUrl + PATHS.authorization,
    token_endpoint: baseUrl + PATHS.token,
    revocation_endpoint: baseUrl + PATHS.revocation,
    registration_endpoint: baseUrl + PATHS.registration,
    device_authorization_endpoint: baseUrl + PATHS.device_authorization,
    jwks_uri: baseUrl + PATHS.jwks,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post', 'fragment'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${baseUrl}/docs/mcp`,
  }
}

/** RFC 9728. */
export function resourceMetadata(baseUrl: string): object {
  return {
    resource: `${baseUrl}/mcp`,
    authorization_servers: [baseUrl],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Postroad',
    resource_documentation: `${baseUrl}/docs/mcp`,
  }
}

/** The resource is at /mcp. Some clients look at the root only. */
export const RESOURCE_METADATA_URLS = [RESOURCE_METADATA, `${RESOURCE_METADATA}/mcp`] as const
