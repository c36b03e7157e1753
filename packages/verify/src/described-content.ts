import { LEEWAY_SECONDS, TOLERANCE_SECONDS } from './limits.ts'

/** The words of the settings, and the content that they describe. */

export const HMAC_ALGORITHMS = ['sha256', 'sha1', 'sha384', 'sha512'] as const
export const DIGEST_ENCODINGS = ['hex', 'base64', 'base64url'] as const
export const PUBLIC_KEY_ALGORITHMS = ['ed25519', 'ecdsa_sha256', 'rsa_sha256'] as const
export const TIMESTAMP_FORMATS = ['seconds', 'milliseconds', 'rfc3339'] as const
export const KEY_ENCODINGS = ['text', 'base64', 'hex'] as const
export const JWT_ALGORITHMS = ['sha256', 'sha384', 'sha512'] as const
export const BODY_HASH_ENCODINGS = ['hex', 'base64'] as const

export const CONTENT_DEFAULTS = {
  header: 'X-Signature',
  encoding: 'hex',
  prefix: '',
  signed: '{body}',
  signature_item: null,
  timestamp_header: null,
  timestamp_item: null,
  timestamp_format: 'seconds',
  id_header: null,
  tolerance_seconds: null,
  signature_path: null,
  timestamp_path: null,
} as const

/** The settings of a scheme when a request sends no others. */
export const ADDITIVE_DEFAULTS = {
  custom_hmac: { ...CONTENT_DEFAULTS, algorithm: 'sha256', key_encoding: 'text' },
  public_key: { ...CONTENT_DEFAULTS, algorithm: 'ed25519' },
  static_token: { header: 'X-Webhook-Token', prefix: '' },
  basic_auth: {},
  jwt: {
    header: 'Authorization',
    prefix: 'Bearer ',
    algorithm: 'sha256',
    body_hash_claim: 'sha256',
    body_hash_encoding: 'hex',
    tolerance_seconds: TOLERANCE_SECONDS,
  },
  oidc_bearer: {
    header: 'Authorization',
    prefix: 'Bearer ',
    audience: null,
    identity_claim: 'email',
    jwks_uri: null,
    tolerance_seconds: LEEWAY_SECONDS,
  },
  aws_sns: {},
  paypal: {},
} as const

export const SIGNED_PARTS = ['body', 'form', 'timestamp', 'id', 'url', 'method'] as const
export type SignedPart = (typeof SIGNED_PARTS)[number]

/** A place that each request fills in: a part of it, or the member of its body at a dot path. */
export type SignedPlace = { readonly part: SignedPart } | { readonly member: string }

const PLACE = /(\{(?:body|form|timestamp|id|url|method|body\.[^{}]+)\})/

/** The signed content in order: fixed text, and places that each request fills in. */
export function partsOf(signed: string): readonly (string | SignedPlace)[] {
  return signed
    .split(PLACE)
    .filter((piece) => piece !== '')
    .map((piece) => {
      const part = SIGNED_PARTS.find((name) => piece === `{${name}}`)
      if (part !== undefined) return { part }
      return PLACE.test(piece) ? { member: piece.slice('{body.'.length, -1) } : piece
    })
}

export function isContent(piece: string | SignedPlace): boolean {
  return typeof piece !== 'string' && 'part' in piece && (piece.part === 'body' || piece.part === 'form')
}

/** The value of `{form}`: the fields sorted by name, each name followed by its value; a repeated field has each value once. */
export function formContent(body: string): string {
  const fields = new Map<string, Set<string>>()
  for (const [name, value] of new URLSearchParams(body)) fields.set(name, (fields.get(name) ?? new Set()).add(value))
  return [...fields]
    .toSorted(([a], [b]) => byCodeUnit(a, b))
    .map(([name, values]) =>
      [...values]
        .toSorted(byCodeUnit)
        .map((value) => name + value)
        .join(''),
    )
    .join('')
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
