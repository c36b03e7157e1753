import { FORM_FIELDS_MAX } from './limits.ts'

/**
 * The spellings of a URL that a sender may have signed, the called one first. Senders disagree with the receiver about a
 * default port and about the escapes that the URL Standard writes, and their own libraries accept each of these.
 */
export function urlSpellings(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url]
  const parsed = new URL(url)
  const port = DEFAULT_PORTS[parsed.protocol]
  const forms = [url, parsed.toString(), ...plainQuery(parsed.toString())]
  return [...new Set([...forms, ...forms.flatMap((form) => [withPort(form, `:${port}`), withPort(form, '')])])]
}

/**
 * The query as the module `querystring` of Node writes it, where repeated fields are together. Twilio's own library tries it.
 * The fields are in an object, because its order is that of the names.
 */
function plainQuery(url: string): readonly string[] {
  const at = url.indexOf('?')
  if (at < 0 || url.split('&', FORM_FIELDS_MAX + 1).length > FORM_FIELDS_MAX) return []
  const fields: Record<string, string[]> = Object.create(null)
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) (fields[name] ??= []).push(value)
  const written = Object.entries(fields).flatMap(([name, values]) =>
    values.map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  )
  return [`${url.slice(0, at + 1)}${written.join('&')}`]
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

/** Replaces the port of a URL in its text. An IPv6 address has colons too. */
function withPort(url: string, port: string): string {
  return url.replace(/^([a-z]+:\/\/(?:\[[^\]]*\]|[^/?#:[]+))(?::\d+)?/i, (_all, host: string) => host + port)
}
