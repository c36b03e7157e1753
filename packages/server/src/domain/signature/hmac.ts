import type { VerificationSettings } from '@postroad/contract'
import { anyEqual, digest, mismatch, missing, type Signed, type SignatureFailure } from './digest.ts'

export type HmacSettings = Extract<VerificationSettings, { scheme: 'hmac' }>

/** The prefix and the digest of the body in the configured header; in a comma-separated list each item is tried. */
export function verifyHmac(request: Signed, settings: HmacSettings): SignatureFailure | undefined {
  const name = settings.header.toLowerCase()
  // The name is a tenant's choice, so `constructor` must not find what a prototype lends.
  const value = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined
  if (value === undefined) return missing(settings.header)
  const given = digestsIn(value, settings)
  const { algorithm, encoding } = settings
  const matches = request.secrets.some((key) =>
    anyEqual(given, digest({ key, body: request.body, algorithm, encoding })),
  )
  return matches ? undefined : mismatch(settings.header)
}

/**
 * The digests behind the prefix. The whole value comes first, for a prefix that holds a comma. Some senders write hex
 * in capitals.
 */
function digestsIn(value: string, settings: HmacSettings): readonly string[] {
  const items = value.includes(',') ? [value, ...value.split(',').map((item) => item.trim())] : [value]
  return items
    .filter((item) => item.startsWith(settings.prefix))
    .map((item) => item.slice(settings.prefix.length))
    .map((text) => (settings.encoding === 'hex' ? text.toLowerCase() : text))
}
