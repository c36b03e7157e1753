import { maskCredentials, mayHoldCredentials } from '../../domain/capture/mask-credentials.ts'

/**
 * Headers that carry credentials: their names are kept with a submission, their values are not. Senders name them as they
 * like (X-Gitlab-Token, X-Auth-Key, X-Telegram-Bot-Api-Secret-Token), so a word of the name decides.
 */
const CREDENTIAL_WORD =
  /(?:^|-)(?:authorization|auth|cookie|token|secret|password|passwd|credentials?|api-?key|access-key|session)(?:-|$)/
const NAMES_KEPT_MAX = 1_000
const masked = new Map<string, boolean>()

/** Few names come again and again, so each is looked at once. */
function isCredential(name: string): boolean {
  const known = masked.get(name)
  if (known !== undefined) return known
  const found = CREDENTIAL_WORD.test(name)
  if (masked.size < NAMES_KEPT_MAX) masked.set(name, found)
  return found
}

/** The headers of a request as JSON, for the submission; the credential it was made with is in none of them. */
export function storedHeaders(headers: Readonly<Record<string, string>>, credential: string): string {
  let json = '{'
  for (const name in headers) {
    const sent = headers[name] ?? ''
    const value = isCredential(name)
      ? '•••'
      : mayHoldCredentials(sent, credential)
        ? maskCredentials(sent, credential)
        : sent
    json += `${json.length > 1 ? ',' : ''}${quoted(name)}:${quoted(value)}`
  }
  return `${json}}`
}

const PLAIN = /^[ !#-[\]-~]*$/

/** Nearly every header is ASCII that needs no escape; NUL is left out, because no text column takes it. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text.replaceAll('\0', ''))
}
