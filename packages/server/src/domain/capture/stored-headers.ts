import type { VerificationSettings } from '@postroad/contract'
import { MASK } from '@postroad/contract/sent-again'
import { isCredentialName } from './credential-name.ts'
import { maskCredentials, mayContainCredentials } from './mask-credentials.ts'

/** The header with the token that proves the sender of an endpoint, in lower case; undefined: there is none. */
export function tokenHeader(webhook: { readonly settings: VerificationSettings } | undefined): string | undefined {
  const settings = webhook?.settings
  const isToken =
    settings?.scheme === 'static_token' || settings?.scheme === 'jwt' || settings?.scheme === 'oidc_bearer'
  return isToken ? settings.header.toLowerCase() : undefined
}

type Hidden = { readonly credential: string; readonly token: string | undefined }

/** The headers of a request as JSON, for the submission. The credentials of the request are removed from all of them. */
export function storedHeaders(headers: Readonly<Record<string, string>>, { credential, token }: Hidden): string {
  let json = '{'
  for (const name in headers) {
    const sent = headers[name] ?? ''
    const value =
      name === token || isCredentialName(name)
        ? MASK
        : mayContainCredentials(sent, credential)
          ? maskCredentials(sent, credential)
          : sent
    json += `${json.length > 1 ? ',' : ''}${quoted(name)}:${quoted(value)}`
  }
  return `${json}}`
}

const PLAIN = /^[ !#-[\]-~]*$/

/** Nearly every header is ASCII that needs no escape. NUL is left out, because no text column accepts it. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text.replaceAll('\0', ''))
}
