import { bytesOf, sha256, textOf } from '#crypto'
import { digest } from './digest.ts'
import { TOLERANCE_SECONDS } from './limits.ts'
import { readSignature, type SchemeSettings } from './schemes.ts'
import type { VerificationSettings } from './settings.ts'
import { standardSignature } from './standard-webhooks.ts'

/** The schemes that a server with the secret cannot sign: a token is the secret, and others need a private key. */
type Unsignable = 'public_key' | 'static_token' | 'basic_auth' | 'oidc_bearer' | 'aws_sns' | 'paypal'
const UNSIGNABLE: ReadonlySet<SchemeSettings['scheme']> = new Set<Unsignable>([
  'public_key',
  'static_token',
  'basic_auth',
  'oidc_bearer',
  'aws_sns',
  'paypal',
])

export type SignableSettings = Exclude<SchemeSettings, { scheme: Unsignable }>

export function isSignable(settings: SchemeSettings): settings is SignableSettings {
  return !UNSIGNABLE.has(settings.scheme) && !isSignedInBody(settings)
}

/** The signature or its time is in the body, so only the sender, which writes the body, can sign. */
export function isSignedInBody(settings: SchemeSettings): boolean {
  return (
    'signed' in settings && [settings.signature_path, settings.timestamp_path].some((path) => typeof path === 'string')
  )
}

export type RequestToSign = {
  readonly settings: SignableSettings
  readonly secret: string
  /** Identifies this request, for schemes that sign an id. */
  readonly id: string
  readonly body: Uint8Array
  readonly nowSeconds: number
  /** The URL that will be called, for a scheme that signs it. */
  readonly url?: string | undefined
}

/** The headers that a sender with this secret would send with the body. `verifySignature` accepts them. */
export function signRequest(request: RequestToSign): Record<string, string> {
  const { settings, secret, body, url, nowSeconds } = request
  if (settings.scheme === 'jwt') return signedToken({ ...request, settings })
  const headers = unsigned(request)
  if (settings.scheme === 'standard_webhooks')
    return { ...headers, ...signedBy(request, standardSignature(secret, { ...request, time: String(nowSeconds) })) }
  // The reader of the scheme knows which bytes are signed, so that signing and verifying cannot diverge.
  const { recipe, before, after } = readSignature(settings, headers, { url, body })
  const { prefix, algorithm, encoding, keyOf, contentOf } = recipe
  const key = keyOf === undefined ? secret : keyOf(secret)
  const content = contentOf === undefined ? body : contentOf(body)
  const signature = prefix + digest({ key, before, body: content, after, algorithm, encoding })
  return { ...headers, ...signedBy(request, signature) }
}

/** The headers that the signature covers besides the body. */
function unsigned({ settings, id, nowSeconds }: RequestToSign): Record<string, string> {
  switch (settings.scheme) {
    case 'payments_provider':
      return { 'stripe-signature': `t=${nowSeconds}` }
    case 'chat_platform':
      return { 'x-slack-request-timestamp': String(nowSeconds) }
    case 'standard_webhooks':
      return { 'webhook-id': id, 'webhook-timestamp': String(nowSeconds) }
    case 'code_host':
    case 'commerce_platform':
    case 'hmac':
    case 'jwt':
      return {}
    case 'custom_hmac':
      return {
        ...(settings.id_header === null ? {} : { [settings.id_header.toLowerCase()]: id }),
        ...(settings.timestamp_header === null
          ? {}
          : { [settings.timestamp_header.toLowerCase()]: timestampText(settings, nowSeconds) }),
        ...(settings.timestamp_item === null
          ? {}
          : { [settings.header.toLowerCase()]: `${settings.timestamp_item}=${timestampText(settings, nowSeconds)}` }),
      }
  }
}

function timestampText(
  { timestamp_format }: Extract<SignableSettings, { scheme: 'custom_hmac' }>,
  nowSeconds: number,
): string {
  switch (timestamp_format) {
    case 'seconds':
      return String(nowSeconds)
    case 'milliseconds':
      return String(nowSeconds * 1_000)
    case 'rfc3339':
      return new Date(nowSeconds * 1_000).toISOString()
  }
}

function signedBy({ settings, nowSeconds }: RequestToSign, signature: string): Record<string, string> {
  switch (settings.scheme) {
    case 'payments_provider':
      return { 'stripe-signature': `t=${nowSeconds},v1=${signature}` }
    case 'chat_platform':
      return { 'x-slack-signature': signature }
    case 'standard_webhooks':
      return { 'webhook-signature': signature }
    case 'code_host':
      return { 'x-hub-signature-256': signature }
    case 'commerce_platform':
      return { 'x-shopify-hmac-sha256': signature }
    case 'hmac':
      return { [settings.header.toLowerCase()]: settings.prefix + signature }
    case 'custom_hmac': {
      const { header, prefix, signature_item: item, timestamp_item: timeItem } = settings
      const time = timeItem === null ? '' : `${timeItem}=${timestampText(settings, nowSeconds)},`
      return { [header.toLowerCase()]: `${time}${item === null ? '' : `${item}=`}${prefix}${signature}` }
    }
    case 'jwt':
      return {}
  }
}

const part = (value: object): string => textOf(bytesOf(JSON.stringify(value), 'utf8'), 'base64url')

/** A token as the sender would make it: valid from now on for as long as the endpoint tolerates. */
function signedToken({
  settings,
  secret,
  body,
  nowSeconds,
}: RequestToSign & { readonly settings: Extract<SignableSettings, { scheme: 'jwt' }> }): Record<string, string> {
  const { algorithm, body_hash_claim: claim, body_hash_encoding: encoding } = settings
  const claims = {
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + settings.tolerance_seconds,
    [claim]: sha256({ content: body, encoding }),
  }
  const signed = `${part({ alg: `HS${algorithm.slice(3)}`, typ: 'JWT' })}.${part(claims)}`
  const signature = digest({ key: secret, body: signed, algorithm, encoding: 'base64url' })
  return { [settings.header.toLowerCase()]: `${settings.prefix}${signed}.${signature}` }
}

/** For how many seconds a signature from now is accepted; undefined: as long as the secret is valid. */
export function signatureSeconds(settings: VerificationSettings): number | undefined {
  if (!('tolerance_seconds' in settings)) return undefined
  if ('signed' in settings && !settings.signed.includes('{timestamp}')) return undefined
  return settings.tolerance_seconds ?? TOLERANCE_SECONDS
}
