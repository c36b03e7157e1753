import type { AuthKind, DestinationAuth } from '@postroad/contract'

/**
 * The stored form of `auth`, sealed as a whole: its settings, and its secret under one name. null in the row means the kind
 * none.
 */
export type HeldAuth = { readonly secret: string } & (
  | { readonly kind: 'basic'; readonly username: string }
  | { readonly kind: 'bearer' }
  | { readonly kind: 'header'; readonly header: string }
  | OAuthClient
  | { readonly kind: 'payload' }
  | { readonly kind: 'aws'; readonly access_key_id: string }
  | { readonly kind: 'google'; readonly client_email: string }
)
export type OAuthClient = {
  readonly kind: 'oauth2_client_credentials'
  readonly token_url: string
  readonly client_id: string
  readonly client_auth: 'basic' | 'body'
  readonly scope?: string | undefined
  readonly audience?: string | undefined
}

/** The name of the secret of each kind in a request. */
export const SECRET_MEMBER = {
  basic: 'password',
  bearer: 'token',
  header: 'value',
  oauth2_client_credentials: 'client_secret',
  payload: 'secret',
  aws: 'secret_access_key',
  google: 'private_key',
} as const satisfies Record<Exclude<AuthKind, 'none'>, string>

/**
 * Turns the submitted form into the stored form. `from` supplies a secret that was left out, if it is of the same kind.
 */
export function heldAuth(
  sent: DestinationAuth,
  from: HeldAuth | null | { readonly anySecret: string },
): HeldAuth | null | { readonly missing: string } {
  if (sent.kind === 'none') return null
  const secret = secretOf(sent) ?? storedSecret(sent, from)
  if (secret === undefined) return { missing: SECRET_MEMBER[sent.kind] }
  switch (sent.kind) {
    case 'basic':
      return { kind: sent.kind, username: sent.username, secret }
    case 'header':
      return { kind: sent.kind, header: sent.header.toLowerCase(), secret }
    case 'oauth2_client_credentials': {
      const { token_url, client_id, client_auth, scope, audience } = sent
      return { kind: sent.kind, token_url, client_id, client_auth, scope, audience, secret }
    }
    case 'aws':
      return { kind: sent.kind, access_key_id: sent.access_key_id, secret }
    case 'google':
      return { kind: sent.kind, client_email: sent.client_email, secret }
    case 'bearer':
    case 'payload':
      return { kind: sent.kind, secret }
  }
}

function storedSecret(sent: DestinationAuth, from: Parameters<typeof heldAuth>[1]): string | undefined {
  if (from === null) return undefined
  if ('anySecret' in from) return from.anySecret
  return from.kind === sent.kind ? from.secret : undefined
}

/** The secret in the submitted form, under the name of its kind. */
export function secretOf(sent: DestinationAuth): string | undefined {
  switch (sent.kind) {
    case 'none':
      return undefined
    case 'basic':
      return sent.password
    case 'bearer':
      return sent.token
    case 'header':
      return sent.value
    case 'oauth2_client_credentials':
      return sent.client_secret
    case 'payload':
      return sent.secret
    case 'aws':
      return sent.secret_access_key
    case 'google':
      return sent.private_key
  }
}

const WITH_HEADER: ReadonlySet<AuthKind> = new Set(['basic', 'bearer', 'header', 'oauth2_client_credentials'])

/** The name of the header that the kind sets, or undefined when it sets none. */
export function headerNameOf(auth: HeldAuth | null): string | undefined {
  if (auth === null || !WITH_HEADER.has(auth.kind)) return undefined
  return auth.kind === 'header' ? auth.header : 'authorization'
}

/** The headers that authenticate the sender. Those of OAuth 2 need an access token, which is not stored here. */
export function authHeaders(auth: HeldAuth | null): Readonly<Record<string, string>> {
  switch (auth?.kind) {
    case 'basic':
      return { authorization: basicCredentials(auth.username, auth.secret) }
    case 'bearer':
      return { authorization: `Bearer ${auth.secret}` }
    case 'header':
      return { [auth.header]: auth.secret }
    case 'oauth2_client_credentials':
    case 'payload':
    case 'aws':
    case 'google':
    case undefined:
      return {}
  }
}

export function basicCredentials(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
