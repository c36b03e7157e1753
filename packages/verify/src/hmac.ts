import type { VerificationSettings } from './settings.ts'
import { malformed, missing, type Reading, type Signed } from './reading.ts'

export type HmacSettings = Extract<VerificationSettings, { scheme: 'hmac' }>

/** The prefix and the digest of the body in the configured header. In a comma-separated list, each item is tried. */
export function readHmac(headers: Signed['headers'], settings: HmacSettings): Reading {
  const { header, prefix, algorithm, encoding } = settings
  const name = header.toLowerCase()
  // A tenant chooses the name, so `constructor` must not find an inherited property.
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  const given = value === undefined ? [] : digestsIn(value, settings)
  const form = `${prefix}<${encoding}>`
  const known = WELL_FORMED[algorithm][encoding]
  const formed = given.some((text) => known.test(text))
  return {
    header,
    form,
    value,
    given,
    before: '',
    recipe: { prefix: '', algorithm, encoding },
    time: undefined,
    failure: value === undefined ? missing(header) : formed ? undefined : malformed(header, form),
  }
}

const WELL_FORMED = {
  sha256: { hex: /^[0-9a-fA-F]{64}$/, base64: /^[A-Za-z0-9+/]{43}=$/ },
  sha1: { hex: /^[0-9a-fA-F]{40}$/, base64: /^[A-Za-z0-9+/]{27}=$/ },
} as const

/** The digests after the prefix. The whole value comes first, in case the prefix contains a comma. */
function digestsIn(value: string, settings: HmacSettings): readonly string[] {
  const items = value.includes(',') ? [value, ...value.split(',').map((item) => item.trim())] : [value]
  return items.filter((item) => item.startsWith(settings.prefix)).map((item) => item.slice(settings.prefix.length))
}
