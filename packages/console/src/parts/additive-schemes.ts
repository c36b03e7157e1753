import {
  ADDITIVE_DEFAULTS,
  ADDITIVE_SCHEMES,
  BODY_HASH_ENCODINGS,
  DIGEST_ENCODINGS,
  HMAC_ALGORITHMS,
  JWT_ALGORITHMS,
  KEY_ENCODINGS,
  LIMITS,
  PUBLIC_KEY_ALGORITHMS,
  TIMESTAMP_FORMATS,
  type AdditiveScheme,
  type VerificationScheme,
} from '@postroad/contract'

/** The settings of an additive scheme, by their names in the API. */
export type AdditiveSettings = Readonly<Record<string, string | number | null>>

export function isAdditive(scheme: VerificationScheme): scheme is AdditiveScheme {
  return ADDITIVE_SCHEMES.some((one) => one === scheme)
}

export function defaultsOf(scheme: AdditiveScheme): AdditiveSettings {
  return ADDITIVE_DEFAULTS[scheme]
}

/** The settings of these schemes in an endpoint or a preset. */
export function settingsIn(verification: object): AdditiveSettings {
  const others = new Set(['scheme', 'secret', 'without_secret', 'has_secret', 'previous_secret_expires_at'])
  return Object.fromEntries(Object.entries(verification).filter(([name]) => !others.has(name)))
}

export type AdditiveField = {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly options?: readonly string[]
  /** An empty field means null. */
  readonly isNullable?: true
  readonly isNumber?: true
}

const HEADER = { name: 'header', label: 'Header' } as const
const PREFIX = { name: 'prefix', label: 'Prefix', hint: 'Optional. The text before the signature.' } as const
const ENCODING = { name: 'encoding', label: 'Encoding', options: DIGEST_ENCODINGS } as const
const TOLERANCE_HINT = `Maximum clock difference in seconds, ${LIMITS.toleranceSecondsMin} to ${LIMITS.toleranceSecondsMax.toLocaleString('en')}.`

const CONTENT: readonly AdditiveField[] = [
  {
    name: 'signed',
    label: 'Signed content',
    hint: 'Text that contains {body}, {form} or members such as {body.id}. It can also contain {timestamp}, {id}, {url} and {method}.',
  },
  {
    name: 'signature_path',
    label: 'Signature path',
    isNullable: true,
    hint: 'Optional. The signature in the body, in place of the header.',
  },
  { name: 'signature_item', label: 'Signature item', isNullable: true, hint: 'Optional. Such as v1 in t=…,v1=….' },
  { name: 'timestamp_header', label: 'Timestamp header', isNullable: true },
  { name: 'timestamp_item', label: 'Timestamp item', isNullable: true, hint: 'Optional. Such as t in t=…,v1=….' },
  { name: 'timestamp_path', label: 'Timestamp path', isNullable: true, hint: 'Optional. The timestamp in the body.' },
  { name: 'timestamp_format', label: 'Timestamp format', options: TIMESTAMP_FORMATS },
  { name: 'tolerance_seconds', label: 'Tolerance', isNullable: true, isNumber: true, hint: TOLERANCE_HINT },
  { name: 'id_header', label: 'ID header', isNullable: true },
]

export const ADDITIVE_FIELDS: Readonly<Record<AdditiveScheme, readonly AdditiveField[]>> = {
  custom_hmac: [
    HEADER,
    PREFIX,
    { name: 'algorithm', label: 'Algorithm', options: HMAC_ALGORITHMS },
    ENCODING,
    ...CONTENT,
    { name: 'key_encoding', label: 'Secret encoding', options: KEY_ENCODINGS },
  ],
  public_key: [
    HEADER,
    PREFIX,
    { name: 'algorithm', label: 'Algorithm', options: PUBLIC_KEY_ALGORITHMS },
    ENCODING,
    ...CONTENT,
  ],
  static_token: [HEADER, PREFIX],
  basic_auth: [],
  oidc_bearer: [
    { name: 'issuer', label: 'Issuer', hint: 'The claim iss, such as https://accounts.google.com.' },
    { name: 'audience', label: 'Audience', isNullable: true, hint: 'The claim aud. Empty: the URL of this endpoint.' },
    {
      name: 'identity_claim',
      label: 'Identity claim',
      hint: 'The claim that must be the secret, such as email or sub.',
    },
    {
      name: 'jwks_uri',
      label: 'Key set URL',
      isNullable: true,
      hint: 'Empty: as the discovery document of the issuer says.',
    },
    HEADER,
    PREFIX,
    { name: 'tolerance_seconds', label: 'Tolerance', isNumber: true, hint: TOLERANCE_HINT },
  ],
  aws_sns: [],
  paypal: [],
  jwt: [
    HEADER,
    PREFIX,
    { name: 'algorithm', label: 'Algorithm', options: JWT_ALGORITHMS },
    { name: 'body_hash_claim', label: 'Body hash claim' },
    { name: 'body_hash_encoding', label: 'Body hash encoding', options: BODY_HASH_ENCODINGS },
    { name: 'tolerance_seconds', label: 'Tolerance', isNumber: true, hint: TOLERANCE_HINT },
  ],
}

/** The text of a field in the form that the API accepts. The API refuses text that should be a number and is not. */
export function valueOf({ isNullable, isNumber }: AdditiveField, text: string): string | number | null {
  if (text === '' && isNullable === true) return null
  return isNumber === true && /^\d+$/.test(text) ? Number(text) : text
}
