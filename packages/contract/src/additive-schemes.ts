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
import { pathProblem, requestSteps } from './dot-path.ts'
import { LIMITS } from './limits.ts'
import { storable } from './list.ts'

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
    `The signed content has the parts {${SIGNED_PARTS.join('}, {')}} and {body.<path>}, and text without braces between them.`,
  )
  .refine(
    (text) => partsOf(text).every((part) => typeof part === 'string' || 'part' in part || isPlainPath(part.member)),
    'A part {body.<path>} has the dot path of a member of the body, such as {body.data.id}.',
  )
  .refine(
    (text) => covers(partsOf(text)),
    'The signed content has {body} or {form} exactly once, or members of the body such as {body.id}.',
  )
  .describe(
    '`{body}`: its bytes. `{body.<path>}`: a member of it. `{form}`: the fields of a form, sorted by name, each name before its value. ' +
      '`{timestamp}`, `{id}`: as sent. `{url}`: of this endpoint, as called. `{method}`: POST.',
  )

function covers(parts: ReturnType<typeof partsOf>): boolean {
  const whole = parts.filter((part) => isContent(part)).length
  const hasMember = parts.some((part) => typeof part !== 'string' && 'member' in part)
  return whole === 1 || (whole === 0 && hasMember)
}

/** A path into the body, before there is an event: the request has no paths here. */
const isPlainPath = (path: string): boolean => pathProblem(path) === undefined && requestSteps(path) === undefined

const BODY_PATH = 'A path is that of a member of the body, such as signature.timestamp.'
const BodyPath = storable(z.string(BODY_PATH))
  .max(LIMITS.conditionPathCharsMax, `A path has at most ${LIMITS.conditionPathCharsMax} characters.`)
  .refine(isPlainPath, BODY_PATH)

const Claim = z
  .string('The claim is the name of a member of the token.')
  .regex(
    /^[A-Za-z0-9_]{1,64}$/,
    'The claim is the name of a member of the token: 1 to 64 letters, digits and underscores.',
  )

const ISSUER = 'The issuer is the claim iss of the tokens, such as https://accounts.google.com.'
const Issuer = z
  .string(ISSUER)
  .max(LIMITS.tokenUrlCharsMax, `An issuer has at most ${LIMITS.tokenUrlCharsMax} characters.`)
  .regex(/^[\x21-\x7e]+$/, ISSUER)

const AUDIENCE = 'The audience is the claim aud of the tokens: printable ASCII, or null for the URL of the endpoint.'
const Audience = z
  .string(AUDIENCE)
  .max(LIMITS.tokenUrlCharsMax, `An audience has at most ${LIMITS.tokenUrlCharsMax} characters.`)
  .regex(/^[\x20-\x7e]+$/, AUDIENCE)

const KEYS_URL = 'The URL of the keys begins with https:// and has no user name, password or fragment.'
const KeysUrl = storable(z.string(KEYS_URL))
  .max(LIMITS.tokenUrlCharsMax, `The URL of the keys has at most ${LIMITS.tokenUrlCharsMax} characters.`)
  .refine(isKeysUrl, KEYS_URL)

function isKeysUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'https:' && `${url.username}${url.password}${url.hash}` === ''
}

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
  .describe('The maximum difference to the current time, both ways.')

/** The settings that both schemes for described content share. */
const contentFields = (header: z.ZodString) => ({
  header,
  encoding: anyOf(DIGEST_ENCODINGS, 'encoding'),
  prefix: Prefix,
  signed: Signed,
  signature_item: Item.nullable().describe('Such as v1 in `t=…,v1=…`. null: the header is the signature.'),
  timestamp_header: header.nullable(),
  timestamp_item: Item.nullable().describe('Such as t.'),
  timestamp_format: anyOf(TIMESTAMP_FORMATS, 'format of the timestamp'),
  id_header: header.nullable(),
  tolerance_seconds: Tolerance.nullable().describe(
    `Both ways. null: ${LIMITS.toleranceSecondsDefault} s with a timestamp.`,
  ),
  signature_path: BodyPath.nullable().describe('Dot path in the body, in place of `header`.'),
  timestamp_path: BodyPath.nullable(),
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
    signature_path: fields.signature_path.default(null),
    timestamp_path: fields.timestamp_path.default(null),
  }
}

const hmacOnly = {
  algorithm: anyOf(HMAC_ALGORITHMS, 'algorithm'),
  key_encoding: anyOf(KEY_ENCODINGS, 'encoding of the key'),
}
const keyOnly = { algorithm: anyOf(PUBLIC_KEY_ALGORITHMS, 'algorithm') }
const tokenFields = (header: z.ZodString) => ({ header, prefix: Prefix })
const jwtFields = (header: z.ZodString) => ({
  header,
  prefix: Prefix,
  algorithm: anyOf(JWT_ALGORITHMS, 'algorithm').describe('sha256 is the algorithm HS256 of the token, and so on.'),
  body_hash_claim: Claim.describe('Carries the SHA-256 of the body.'),
  body_hash_encoding: anyOf(BODY_HASH_ENCODINGS, 'encoding of the body hash'),
  tolerance_seconds: Tolerance,
})

const oidcFields = (header: z.ZodString) => ({
  header,
  prefix: Prefix,
  issuer: Issuer,
  audience: Audience.nullable().describe('null: the URL of the endpoint.'),
  identity_claim: Claim.describe('The claim that is the secret.'),
  jwks_uri: KeysUrl.nullable().describe('null: by discovery.'),
  tolerance_seconds: Tolerance.describe('The leeway of its times.'),
})

/** The settings of each additive scheme, with their defaults. */
export const additiveSettings = (header: z.ZodString) => {
  const { static_token: token, jwt, oidc_bearer: oidc } = ADDITIVE_DEFAULTS
  const tokens = tokenFields(header)
  const jwts = jwtFields(header)
  const oidcs = oidcFields(header)
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
    oidc_bearer: {
      header: oidcs.header.default(oidc.header),
      prefix: oidcs.prefix.default(oidc.prefix),
      issuer: oidcs.issuer,
      audience: oidcs.audience.default(oidc.audience),
      identity_claim: oidcs.identity_claim.default(oidc.identity_claim),
      jwks_uri: oidcs.jwks_uri.default(oidc.jwks_uri),
      tolerance_seconds: oidcs.tolerance_seconds.default(oidc.tolerance_seconds),
    },
  }
}

/** The same settings in a change, where each may be left out. */
export const additiveChanges = (header: z.ZodString) => ({
  custom_hmac: z.object({ ...contentFields(header), ...hmacOnly }).partial().shape,
  public_key: z.object({ ...contentFields(header), ...keyOnly }).partial().shape,
  static_token: z.object(tokenFields(header)).partial().shape,
  jwt: z.object(jwtFields(header)).partial().shape,
  oidc_bearer: z.object(oidcFields(header)).partial().shape,
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
  'signature_path',
  'timestamp_path',
  'issuer',
  'audience',
  'identity_claim',
  'jwks_uri',
] as const

type Content = {
  readonly signed: string
  readonly signature_item: string | null
  readonly timestamp_header: string | null
  readonly timestamp_item: string | null
  readonly id_header: string | null
  readonly tolerance_seconds: number | null
  readonly timestamp_path: string | null
}

/** The reason why valid settings do not fit together; undefined when they do. */
export function misfitOf(settings: Content): string | undefined {
  return timeMisfit(settings) ?? idMisfit(settings)
}

function timeMisfit(settings: Content): string | undefined {
  const { signed, signature_item, timestamp_header: header, timestamp_item: item, timestamp_path: path } = settings
  if (item !== null && signature_item === null)
    return 'A "timestamp_item" needs a "signature_item": both are items of one header.'
  const places = [header, item, path].filter((place) => place !== null).length
  if (places > 1)
    return 'The timestamp is in one place; set one of "timestamp_header", "timestamp_item" and "timestamp_path".'
  const isThere = places === 1
  if (signed.includes('{timestamp}'))
    return isThere
      ? undefined
      : 'The signed content has {timestamp}; set "timestamp_header", "timestamp_item" or "timestamp_path".'
  if (isThere)
    return 'The timestamp is not signed, so anybody could change it; add {timestamp} to "signed", or remove its place.'
  return settings.tolerance_seconds === null
    ? undefined
    : 'Without a timestamp there is nothing to tolerate; set "tolerance_seconds" to null.'
}

/** Discovery (OpenID Connect Discovery 1.0) needs an issuer that is a URL. */
export function issuerMisfit({
  issuer,
  jwks_uri,
}: {
  readonly issuer: string
  readonly jwks_uri: string | null
}): string | undefined {
  if (jwks_uri !== null || (isKeysUrl(issuer) && !issuer.includes('?'))) return undefined
  return 'Without "jwks_uri", the issuer must be an https URL with a discovery document. Set "jwks_uri".'
}

function idMisfit({ signed, id_header }: Content): string | undefined {
  if (signed.includes('{id}') === (id_header !== null)) return undefined
  return id_header === null
    ? 'The signed content has {id}; set "id_header".'
    : 'The id is not signed; add {id} to "signed", or remove "id_header".'
}
