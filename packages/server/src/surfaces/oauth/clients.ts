import { LIMITS } from '@postroad/contract'
import type { ClientMetadata } from 'oidc-provider'

/** The command line of Postroad, which signs in by a code on a device. */
export const COMMAND_LINE = 'postroad-cli'
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

export const OWN_CLIENTS: readonly ClientMetadata[] = [
  {
    client_id: COMMAND_LINE,
    client_name: 'Postroad command line',
    application_type: 'native',
    grant_types: [DEVICE_GRANT, 'refresh_token'],
    response_types: [],
    redirect_uris: [],
    token_endpoint_auth_method: 'none',
  },
]

type Members = Readonly<Record<string, unknown>>

/**
 * The metadata that this server takes from a client that describes itself, in a registration or in its document. Every
 * client is a public one with PKCE, so no secret is made or stored. A client with a redirect to its own machine counts
 * as native, because few native clients declare it.
 */
export function acceptedMetadata(given: Members): Members {
  const uris = Array.isArray(given['redirect_uris']) ? given['redirect_uris'] : []
  const asked = Array.isArray(given['grant_types']) ? given['grant_types'] : []
  const refreshes = asked.length === 0 || asked.includes('refresh_token')
  const { client_id: id, client_name: name } = given
  return {
    ...(id === undefined ? {} : { client_id: id }),
    client_name: nameIn(name),
    redirect_uris: uris.length > LIMITS.redirectUrisMax ? [] : uris,
    application_type: uris.every((uri) => typeof uri === 'string' && uri.startsWith('https:')) ? 'web' : 'native',
    grant_types: ['authorization_code', ...(refreshes ? ['refresh_token'] : [])],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
}

function nameIn(name: unknown): string {
  const plain = typeof name === 'string' ? plainName(name) : ''
  return plain === '' ? 'A program without a name' : plain
}

/** The name that a stranger gave, on one short line, without characters that change the direction of text or cannot be seen. */
export function plainName(name: string): string {
  return name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, LIMITS.clientNameCharsMax)
}

/** The host that publishes the client, which its client id proves; null for every other client. */
export function hostOf(clientId: string): string | null {
  return isDocument(clientId) ? new URL(clientId).host : null
}

/** The client id is the URL of a document that describes the client. */
export const isDocument = (clientId: string): boolean => clientId.startsWith('https://') && URL.canParse(clientId)

export type Redirect = {
  /** The host, or the scheme of a program on the device, such as `cursor:`. */
  readonly host: string
  /** It leads to a program on the device of the person, so any program there could receive it. */
  readonly local: boolean
}

export function redirectTo(uri: string): Redirect {
  const { protocol, host, hostname } = new URL(uri)
  if (protocol !== 'https:' && protocol !== 'http:') return { host: protocol, local: true }
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return { host: local ? hostname : host, local }
}
