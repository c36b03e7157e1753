/**
 * The spellings of a URL that a sender may have signed, the called one first. Senders disagree with the receiver about a
 * default port and about the escapes that the URL Standard writes, and their own libraries accept each of these.
 */
export function urlSpellings(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url]
  const parsed = new URL(url)
  const port = DEFAULT_PORTS[parsed.protocol]
  const forms = [url, parsed.toString()]
  return [...new Set([...forms, ...forms.flatMap((form) => [withPort(form, `:${port}`), withPort(form, '')])])]
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

/** Replaces the port of a URL in its text. An IPv6 address has colons too. */
function withPort(url: string, port: string): string {
  return url.replace(/^([a-z]+:\/\/(?:\[[^\]]*\]|[^/?#:[]+))(?::\d+)?/i, (_all, host: string) => host + port)
}
