import { parseStoredJson, stringifyJson } from '../../json/json-text.ts'
import type { Attributes } from './items.ts'

/** Replaces a value that must not be sent. */
const REDACTED = '[redacted]'

export type Redaction = {
  readonly headers: ReadonlySet<string>
  readonly fields: ReadonlySet<string>
  readonly bodyCharsMax: number
}

const lower = (names: readonly string[]): ReadonlySet<string> => new Set(names.map((name) => name.toLowerCase()))

export const redactionOf = (
  given: { readonly redact_headers: readonly string[]; readonly redact_fields: readonly string[] },
  bodyCharsMax: number,
): Redaction => ({ headers: lower(given.redact_headers), fields: lower(given.redact_fields), bodyCharsMax })

/** The stored headers as attributes, by the semantic conventions of OpenTelemetry. */
export function headerAttributes(json: string, { headers }: Redaction): Attributes {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the submission stores its headers in this form
  const stored = JSON.parse(json) as Record<string, string>
  return Object.fromEntries(
    Object.entries(stored).map(([name, value]) => [
      `http.request.header.${name.toLowerCase()}`,
      [headers.has(name.toLowerCase()) ? REDACTED : value],
    ]),
  )
}

/** The stored query string. `redact_fields` names its members too. */
export function queryText(query: string, { fields }: Redaction): string {
  if (fields.size === 0) return query
  return query
    .split('&')
    .map((pair) => {
      const [name = ''] = pair.split('=', 1)
      const [decoded = name] = new URLSearchParams(name).keys()
      return fields.has(decoded.toLowerCase()) ? `${name}=${REDACTED}` : pair
    })
    .join('&')
}

/** The start of a body. With fields to redact, a body that cannot be read as JSON is left out. */
export function bodyText(body: string, { fields, bodyCharsMax }: Redaction): string | undefined {
  if (fields.size === 0) return body.slice(0, bodyCharsMax)
  const parsed = parseStoredJson(body)
  return parsed.ok ? stringifyJson(redacted(parsed.value, fields)).slice(0, bodyCharsMax) : undefined
}

function redacted(value: unknown, fields: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => redacted(item, fields))
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      fields.has(name.toLowerCase()) ? REDACTED : redacted(member, fields),
    ]),
  )
}

/** Numbers are objects with their digits, which must stay as they are. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
