import { parseJson, stringifyJson } from '../json/json-text.ts'

/** The parts of a request that a transform makes. */
export type ProgramRequest = {
  readonly body: string
  /** The body is a text, and not JSON. */
  readonly isText: boolean
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

const HEADERS_MAX = 32

/** Reads the object that a transform returned, as JSON. */
export function programRequest(result: string): ProgramRequest | { readonly error: string } {
  const parsed = parseJson(result)
  if (!parsed.ok) return { error: `The result cannot be sent: ${parsed.error}` }
  const { value } = parsed
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { error: 'The program returned a list. Return an object with the member body, or null.' }
  if (!('body' in value) || value.body === undefined)
    return { error: 'The result has no member body. Return the event, or an object with the body to send.' }
  const headers = headersOf('headers' in value ? value.headers : {})
  if (typeof headers === 'string') return { error: headers }
  const isText = typeof value.body === 'string'
  return { body: typeof value.body === 'string' ? value.body : stringifyJson(value.body), isText, headers }
}

/** The content type of a request; undefined: JSON. */
export const contentTypeOf = ({ headers, isText }: ProgramRequest): string | undefined =>
  headers['content-type'] ?? (isText ? 'text/plain; charset=utf-8' : undefined)

function headersOf(value: unknown): Record<string, string> | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'headers is not an object of names and texts.'
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries<unknown>({ ...value })) {
    if (typeof text !== 'string') return `headers: the value of ${name} is not a text.`
    headers[name.toLowerCase()] = text
  }
  const count = Object.keys(headers).length
  return count > HEADERS_MAX ? `headers has ${count} names, and ${HEADERS_MAX} are allowed.` : headers
}
