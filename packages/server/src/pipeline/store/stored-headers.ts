import { maskCredentials, mayHoldCredentials } from '../../domain/mask-credentials.ts'

/** Headers that carry credentials: their names are kept with a submission, their values are not. */
const MASKED = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key'])

/** The headers of a request as JSON, for the submission; the credential it was made with is in none of them. */
export function storedHeaders(headers: Readonly<Record<string, string>>, credential: string): string {
  let json = '{'
  for (const name in headers) {
    const sent = headers[name] ?? ''
    const value = MASKED.has(name) ? '•••' : mayHoldCredentials(sent, credential) ? maskCredentials(sent, credential) : sent
    json += `${json.length > 1 ? ',' : ''}${quoted(name)}:${quoted(value)}`
  }
  return `${json}}`
}

const PLAIN = /^[ !#-[\]-~]*$/

/** Nearly every header is ASCII that needs no escape; NUL is left out, because no text column takes it. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text.replaceAll('\0', ''))
}
