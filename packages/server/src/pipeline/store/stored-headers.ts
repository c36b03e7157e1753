import type { VerificationSettings } from '@postroad/contract'
import { maskCredentials, mayContainCredentials } from '../../domain/capture/mask-credentials.ts'

/**
 * Headers that carry credentials: their names are stored with a submission, their values are not. Senders choose the names
 * freely (X-Gitlab-Token, X-Auth-Key, X-Telegram-Bot-Api-Secret-Token), so a word of the name decides.
 */
const CREDENTIAL_WORD =
  /(?:^|-)(?:authorization|auth|cookie|token|secret|password|passwd|credentials?|api-?key|access-key|session)(?:-|$)/
const NAMES_KEPT_MAX = 1_000
const masked = new Map<string, boolean>()

/** The same few names recur, so each is tested once. */
function isCredential(name: string): boolean {
  const known = masked.get(name)
  if (known !== undefined) return known
  const found = CREDENTIAL_WORD.test(name)
  if (masked.size < NAMES_KEPT_MAX) masked.set(name, found)
  return found
}

/** The header with the token that proves the sender of an endpoint, in lower case; undefined: there is none. */
export function tokenHeader(webhook: { readonly settings: VerificationSettings } | undefined): string | undefined {
  const settings = webhook?.settings
  return settings?.scheme === 'static_token' || settings?.scheme === 'jwt' ? settings.header.toLowerCase() : undefined
}

type Hidden = { readonly credential: string; readonly token: string | undefined }

/** The headers of a request as JSON, for the submission. The credentials of the request are removed from all of them. */
export function storedHeaders(headers: Readonly<Record<string, string>>, { credential, token }: Hidden): string {
  let json = '{'
  for (const name in headers) {
    const sent = headers[name] ?? ''
    const value =
      name === token || isCredential(name)
        ? '•••'
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
