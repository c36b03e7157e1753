import { createHash, createHmac, randomUUID } from 'node:crypto'
import type { Verification, VerificationSettings, VerificationScheme } from '@postroad/contract'
import { ADDITIVE_DEFAULTS, formContent, partsOf } from '@postroad/verify/described-content'

/** Only the sender has the private key of these schemes. */
export type PrivateKeyScheme = 'public_key' | 'oidc_bearer' | 'aws_sns' | 'paypal'
export type SigningScheme = Exclude<VerificationScheme, 'none' | PrivateKeyScheme>

type ToSign = {
  readonly secret: string
  readonly body: Buffer
  readonly time: string
  readonly settings: Settings
  readonly url: string
}
type Settings = Partial<Verification>
type Headers = Readonly<Record<string, string>>

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?$/

/** The signature headers of each kind of sender. */
const SIGNERS: Readonly<Record<SigningScheme, (request: ToSign) => Headers>> = {
  payments_provider: ({ secret, body, time }) => ({
    'Stripe-Signature': `t=${time},v1=${hmac(secret, `${time}.`, body).toString('hex')}`,
  }),
  code_host: ({ secret, body }) => ({ 'X-Hub-Signature-256': `sha256=${hmac(secret, '', body).toString('hex')}` }),
  commerce_platform: ({ secret, body }) => ({ 'X-Shopify-Hmac-Sha256': hmac(secret, '', body).toString('base64') }),
  chat_platform: ({ secret, body, time }) => ({
    'X-Slack-Request-Timestamp': time,
    'X-Slack-Signature': `v0=${hmac(secret, `v0:${time}:`, body).toString('hex')}`,
  }),
  standard_webhooks: ({ secret, body, time }) => {
    const id = `msg_${randomUUID()}`
    const encoded = secret.replace(/^whsec_/, '')
    const key = BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : secret
    return {
      'webhook-id': id,
      'webhook-timestamp': time,
      'webhook-signature': `v1,${hmac(key, `${id}.${time}.`, body).toString('base64')}`,
    }
  },
  hmac: ({ secret, body, settings }) => {
    const { header = 'X-Signature', algorithm = 'sha256', encoding = 'hex', prefix = '' } = settings
    return { [header]: prefix + createHmac(algorithm, secret).update(body).digest(encoding) }
  },
  custom_hmac: (request) => signedContent(request),
  static_token: ({ secret, settings }) => {
    const { header, prefix } = settingsOf('static_token', settings)
    return { [header]: prefix + secret }
  },
  basic_auth: ({ secret }) => ({ Authorization: `Basic ${Buffer.from(secret).toString('base64')}` }),
  jwt: ({ secret, body, time, settings }) => {
    const { header, prefix, algorithm, body_hash_claim, body_hash_encoding } = settingsOf('jwt', settings)
    const hash = createHash('sha256').update(body).digest(body_hash_encoding)
    const head = part({ alg: `HS${algorithm.slice(3)}`, typ: 'JWT' })
    const signed = `${head}.${part({ iat: Number(time), [body_hash_claim]: hash })}`
    return { [header]: `${prefix}${signed}.${createHmac(algorithm, secret).update(signed).digest('base64url')}` }
  },
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The settings of an endpoint; for a bare URL, the defaults of the scheme. */
function settingsOf<const Scheme extends keyof typeof ADDITIVE_DEFAULTS>(scheme: Scheme, settings: Settings) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server stores settings of this scheme only
  return { ...ADDITIVE_DEFAULTS[scheme], ...(settings.scheme === scheme ? settings : {}) } as unknown as Extract<
    VerificationSettings,
    { scheme: Scheme }
  >
}

function signedContent({ secret, body, time, settings: given, url }: ToSign): Headers {
  const settings = settingsOf('custom_hmac', given)
  const { header, algorithm, encoding, prefix, signed, signature_item: item, key_encoding } = settings
  const timestamp = {
    seconds: time,
    milliseconds: `${time}000`,
    rfc3339: new Date(Number(time) * 1_000).toISOString(),
  }[settings.timestamp_format]
  const id = `msg_${randomUUID()}`
  const signature = createHmac(algorithm, key_encoding === 'text' ? secret : Buffer.from(secret, key_encoding))
  const values = { timestamp, id, url, method: 'POST', body, form: formContent(body.toString()) }
  for (const piece of partsOf(signed))
    if (typeof piece === 'string' || 'part' in piece)
      signature.update(typeof piece === 'string' ? piece : values[piece.part])
  const items = [
    ...(settings.timestamp_item === null ? [] : [`${settings.timestamp_item}=${timestamp}`]),
    `${item === null ? '' : `${item}=`}${prefix}${signature.digest(encoding)}`,
  ]
  return {
    [header]: items.join(','),
    ...(settings.timestamp_header === null ? {} : { [settings.timestamp_header]: timestamp }),
    ...(settings.id_header === null ? {} : { [settings.id_header]: id }),
  }
}

/** Whether members of the body are signed, or carry the signature: only the sender writes such a body. */
export function isSignedInBody({ signature_path, timestamp_path, signed = '' }: Settings): boolean {
  return (signature_path ?? timestamp_path ?? null) !== null || signed.includes('{body.')
}

export const SIGNING_SCHEMES: readonly string[] = Object.keys(SIGNERS)

export type Signing = {
  readonly scheme: SigningScheme
  readonly secret: string
  readonly body: Buffer
  readonly settings: Settings
  /** The URL as the sender knows it, for a scheme that signs it. */
  readonly url: string
}

/** The headers that sign a body now, as a sender with this scheme would. */
export function signatureHeaders({ scheme, ...request }: Signing): Headers {
  return SIGNERS[scheme]({ ...request, time: String(Math.floor(Date.now() / 1_000)) })
}

function hmac(...[key, before, body]: [key: string | Buffer, before: string, body: Buffer]): Buffer {
  return createHmac('sha256', key).update(before).update(body).digest()
}
