/** Names that a destination's custom headers may not use. The prefixes `proxy-`, `service-` and `webhook-` are refused too. */
export const RESERVED_REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'keep-alive',
  'te',
  'trailer',
  'expect',
  'content-type',
  'user-agent',
  'traceparent',
  'tracestate',
])

/** These would claim that the body is something other than JSON. */
const ABOUT_THE_BODY: ReadonlySet<string> = new Set(['content-encoding', 'content-range', 'content-transfer-encoding'])

/**
 * The reason why a destination may not send this custom header, as a sentence, or undefined when it may. Spec 6: neither
 * Postroad's own headers nor the hop-by-hop ones can be overridden; CR, LF, NUL and non-Latin text are never sent.
 */
export function validateHeader(name: string, value: string): string | undefined {
  const lower = name.toLowerCase()
  if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name)) return 'A header name can contain only letters, digits and hyphens.'
  if (RESERVED_REQUEST_HEADERS.has(lower) || /^(proxy|service|webhook)-/.test(lower)) {
    return `The header ${lower} is set by Postroad and cannot be replaced.`
  }
  if (ABOUT_THE_BODY.has(lower))
    return `The header ${lower} would change how receivers read the body, which is plain JSON. Leave it out.`
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return 'A header value can contain only printable Latin characters.'
  return undefined
}
