/** A stored request, as it can be sent again. */

/** Replaces a credential, whose value is never stored. */
export const MASK = '•••'

/** Whether a value of a stored request, or one of several, has a masked credential. */
export const hasMask = (value: unknown): boolean =>
  [value].flat().some((one) => typeof one === 'string' && one.includes(MASK))

/** Headers of one connection (RFC 9110), and those that the new connection sets. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The headers, names in lower case, without those of the connection. A header with dots would be wrong, so it is left out. */
export function headersToSend(headers: Readonly<Record<string, string>>): Record<string, string> {
  const named = new Set(headers['connection']?.split(',').map((name) => name.trim().toLowerCase()))
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => !OF_CONNECTION.has(name) && !named.has(name) && !value.includes(MASK),
    ),
  )
}

/** The query string without the members that are masked; empty: there is nothing to send. */
export function queryToSend(query: string | null): string {
  if (query === null || !query.includes(MASK)) return query ?? ''
  return query
    .split('&')
    .filter((pair) => !pair.includes(MASK))
    .join('&')
}

/** A URL or a path with a query string after its own. */
export function withQuery(url: string, query: string): string {
  return query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`
}
