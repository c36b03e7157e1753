import type { AuthKind, RouteRequest, Routes } from '@postroad/contract'
import type { Destination } from '../../../data/lists.ts'

/** The authentication at the receiver, in a form. An empty secret leaves the stored one unchanged. */
export type AuthDraft = {
  readonly kind: AuthKind
  readonly username: string
  readonly header: string
  readonly accessKeyId: string
  readonly clientEmail: string
  readonly secret: string
  readonly tokenUrl: string
  readonly clientId: string
  readonly scope: string
  readonly audience: string
  readonly clientAuth: 'basic' | 'body'
}

export const NO_AUTH: AuthDraft = {
  kind: 'none',
  username: '',
  header: '',
  accessKeyId: '',
  clientEmail: '',
  secret: '',
  tokenUrl: '',
  clientId: '',
  scope: '',
  audience: '',
  clientAuth: 'basic',
}

export function authDraftOf({ auth }: Destination): AuthDraft {
  return {
    kind: auth.kind,
    username: auth.username ?? '',
    header: auth.header ?? '',
    accessKeyId: auth.access_key_id ?? '',
    clientEmail: auth.client_email ?? '',
    secret: '',
    tokenUrl: auth.token_url ?? '',
    clientId: auth.client_id ?? '',
    scope: auth.scope ?? '',
    audience: auth.audience ?? '',
    clientAuth: auth.client_auth ?? 'basic',
  }
}

type Auth = NonNullable<RouteRequest<Routes['destinations']['update']>['auth']>

export function authOf(draft: AuthDraft): Auth {
  const secret = draft.secret === '' ? undefined : draft.secret
  switch (draft.kind) {
    case 'none':
      return { kind: 'none' }
    case 'basic':
      return { kind: 'basic', username: draft.username, password: secret }
    case 'bearer':
      return { kind: 'bearer', token: secret }
    case 'header':
      return { kind: 'header', header: draft.header, value: secret }
    case 'payload':
      return { kind: 'payload', secret }
    case 'aws':
      return { kind: 'aws', access_key_id: draft.accessKeyId, secret_access_key: secret }
    case 'google':
      return { kind: 'google', client_email: draft.clientEmail, private_key: secret }
    case 'oauth2_client_credentials':
      return {
        kind: draft.kind,
        token_url: draft.tokenUrl,
        client_id: draft.clientId,
        client_secret: secret,
        scope: orNone(draft.scope),
        audience: orNone(draft.audience),
        client_auth: draft.clientAuth,
      }
  }
}

function orNone(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim()
}
