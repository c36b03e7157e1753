import {
  ADDITIVE_DEFAULTS,
  BODY_HASH_ENCODINGS,
  CONTENT_DEFAULTS,
  DIGEST_ENCODINGS,
  HMAC_ALGORITHMS,
  isContent,
  JWT_ALGORITHMS,
  KEY_ENCODINGS,
  partsOf,
  PUBLIC_KEY_ALGORITHMS,
  SIGNED_PARTS,
  TIMESTAMP_FORMATS,
} from '@postroad/verify/described-content'
import { z } from 'zod'
import { LIMITS } from './limits.ts'

/** The schemas of the additive schemes. */

const anyOf = <const Values extends readonly [string, ...string[]]>(values: Values, what: string) =>
  z.enum(values, `The ${what} is one of ${values.join(', ')}.`)

const Prefix = z
  .string('A prefix is text, such as "sha256=".')
  .max(LIMITS.hmacPrefixCharsMax, `A prefix has at most ${LIMITS.hmacPrefixCharsMax} characters.`)
  .regex(/^(?:[\x21-\x7e][\x20-\x7e]*)?$/, 'A prefix is printable ASCII and does not begin with a space.')
  .describe('The text before the signature.')

const ITEM = 'The name of an item is 1 to 32 letters, digits, hyphens and underscores, such as v1.'
const Item = z.string(ITEM).regex(/^[A-Za-z0-9_-]{1,32}$/, ITEM)

const Signed = z
  .string('The signed content is text such as "{timestamp}.{body}".')
  .max(
    LIMITS.signedContentCharsMax,
    `The description of the signed content has at most ${LIMITS.signedContentCharsMax} characters.`,
  )
  .regex(/^[\x20-\x7e]+$/, 'The signed content is described in printable ASCII, such as "{timestamp}.{body}".')
  .refine(
    (text) => partsOf(text).every((part) => typeof part !== 'string' || !/[{}]/.test(part)),
    `The signed content has the parts {${SIGNED_PARTS.join('}, {')}}, and text without braces between them.`,
  )
  .refine(
    (text) => partsOf(text).filter((part) => isContent(part)).length === 1,
    'The signed content has {body} or {form} exactly once.',
  )
  .describe(
    'What the signature covers. `{body}`: the bytes of the body. `{form}`: the fields of a form, sorted by name, each name followed by ' +
      'its value. `{timestamp}`, `{id}`: as their headers have them. `{url}`: the URL of this endpoint as the sender called it. ' +
      '`{method}`: POST.',
  )

const Claim = z
  .string('The claim is the name of a member of the token.')
  .regex(
    /^[A-Za-z0-9_]{1,64}$/,
    'The claim is the name of a member of the token: 1 to 64 letters, digits and underscores.',
  )

const Tolerance = z
  .int('The tolerance is a whole number of seconds.')
  .min(
    LIMITS.toleranceSecondsMin,
    `The tolerance is ${LIMITS.toleranceSecondsMin} to ${LIMITS.toleranceSecondsMax} seconds.`,
  )
  .max(
    LIMITS.toleranceSecondsMax,
    `The tolerance is ${LIMITS.toleranceSecondsMin} to ${LIMITS.toleranceSecondsMax} seconds.`,
  )
  .describe('The maximum difference between the request timestamp and the current time, in both directions.')

/** The settings that both schemes for described content share. */
const contentFields = (header: z.ZodString) => ({
  header,
  encoding: anyOf(DIGEST_ENCODINGS, 'encoding'),
  prefix: Prefix,
  signed: Signed,
  signature_item: Item.nullable().describe(
    'The item of the header that carries the signature, such as v1 in `t=…,v1=…`. null: the header is the signature.',
  ),
  timestamp_header: header.nullable().describe('The header of the timestamp.'),
  timestamp_item: Item.nullable().describe('The item of the signature header that carries the timestamp, such as t.'),
  timestamp_format: anyOf(TIMESTAMP_FORMATS, 'format of the timestamp'),
  id_header: header.nullable().describe('The header of the id that is signed as {id}.'),
  tolerance_seconds: Tolerance.nullable().describe(
    `The maximum difference between the timestamp and the current time, in both directions. null: ${LIMITS.toleranceSecondsDefault} s with a timestamp.`,
  ),
})

const contentDefaults = (header: z.ZodString) => {
  const fields = contentFields(header)
  return {
    header: fields.header.default(CONTENT_DEFAULTS.header),
    encoding: fields.encoding.default(CONTENT_DEFAULTS.encoding),
    prefix: fields.prefix.default(CONTENT_DEFAULTS.prefix),
    signed: fields.signed.default(CONTENT_DEFAULTS.signed),
    signature_item: fields.signature_item.default(null),
    timestamp_header: fields.timestamp_header.default(null),
    timestamp_item: fields.timestamp_item.default(null),
    timestamp_format: fields.timestamp_format.default(CONTENT_DEFAULTS.timestamp_format),
    id_header: fields.id_header.default(null),
    tolerance_seconds: fields.tolerance_seconds.default(null),
  }
}

const hmacOnly = {
  algorithm: anyOf(HMAC_ALGORITHMS, 'algorithm'),
  key_encoding: anyOf(KEY_ENCODINGS, 'encoding of the key').describe(
    'How the secret stands for the bytes of the key: its own text, or base64 or hex of them.',
  ),
}
const keyOnly = { algorithm: anyOf(PUBLIC_KEY_ALGORITHMS, 'algorithm') }
const tokenFields = (header: z.ZodString) => ({ header, prefix: Prefix })
const jwtFields = (header: z.ZodString) => ({
  header,
  prefix: Prefix,
  algorithm: anyOf(JWT_ALGORITHMS, 'algorithm').describe('sha256 is the algorithm HS256 of the token, and so on.'),
  body_hash_claim: Claim.describe('The claim that carries the SHA-256 of the body.'),
  body_hash_encoding: anyOf(BODY_HASH_ENCODINGS, 'encoding of the body hash'),
  tolerance_seconds: Tolerance,
})

/** The settings of each additive scheme, with their defaults. */
export const additiveSettings = (header: z.ZodString) => {
  const { static_token: token, jwt } = ADDITIVE_DEFAULTS
  const tokens = tokenFields(header)
  const jwts = jwtFields(header)
  return {
    custom_hmac: {
      ...contentDefaults(header),
      algorithm: hmacOnly.algorithm.default(ADDITIVE_DEFAULTS.custom_hmac.algorithm),
      key_encoding: hmacOnly.key_encoding.default(ADDITIVE_DEFAULTS.custom_hmac.key_encoding),
    },
    public_key: {
      ...contentDefaults(header),
      algorithm: keyOnly.algorithm.default(ADDITIVE_DEFAULTS.public_key.algorithm),
    },
    static_token: { header: tokens.header.default(token.header), prefix: tokens.prefix.default(token.prefix) },
    jwt: {
      header: jwts.header.default(jwt.header),
      prefix: jwts.prefix.default(jwt.prefix),
      algorithm: jwts.algorithm.default(jwt.algorithm),
      body_hash_claim: jwts.body_hash_claim.default(jwt.body_hash_claim),
      body_hash_encoding: jwts.body_hash_encoding.default(jwt.body_hash_encoding),
      tolerance_seconds: jwts.tolerance_seconds.default(jwt.tolerance_seconds),
    },
  }
}

/** The same settings in a change, where each may be left out. */
export const additiveChanges = (header: z.ZodString) => ({
  custom_hmac: z.object({ ...contentFields(header), ...hmacOnly }).partial().shape,
  public_key: z.object({ ...contentFields(header), ...keyOnly }).partial().shape,
  static_token: z.object(tokenFields(header)).partial().shape,
  jwt: z.object(jwtFields(header)).partial().shape,
})

export const ADDITIVE_SETTING_NAMES = [
  'signed',
  'signature_item',
  'timestamp_header',
  'timestamp_item',
  'timestamp_format',
  'id_header',
  'key_encoding',
  'body_hash_claim',
  'body_hash_encoding',
] as const

type Content = {
  readonly signed: string
  readonly signature_item: string | null
  readonly timestamp_header: string | null
  readonly timestamp_item: string | null
  readonly id_header: string | null
  readonly tolerance_seconds: number | null
}

/** The reason why valid settings do not fit together; undefined when they do. */
export function misfitOf(settings: Content): string | undefined {
  return timeMisfit(settings) ?? idMisfit(settings)
}

function timeMisfit(settings: Content): string | undefined {
  const { signed, signature_item, timestamp_header: header, timestamp_item: item, tolerance_seconds } = settings
  if (item !== null && signature_item === null)
    return 'A "timestamp_item" needs a "signature_item": both are items of one header.'
  if (header !== null && item !== null)
    return 'The timestamp is in a header or in an item; set one of "timestamp_header" and "timestamp_item".'
  const isThere = header !== null || item !== null
  if (signed.includes('{timestamp}'))
    return isThere ? undefined : 'The signed content has {timestamp}; set "timestamp_header" or "timestamp_item".'
  if (isThere)
    return 'The timestamp is not signed, so anybody could change it; add {timestamp} to "signed", or remove its header.'
  return tolerance_seconds === null
    ? undefined
    : 'Without a timestamp there is nothing to tolerate; set "tolerance_seconds" to null.'
}

function idMisfit({ signed, id_header }: Content): string | undefined {
  if (signed.includes('{id}') === (id_header !== null)) return undefined
  return id_header === null
    ? 'The signed content has {id}; set "id_header".'
    : 'The id is not signed; add {id} to "signed", or remove "id_header".'
}
