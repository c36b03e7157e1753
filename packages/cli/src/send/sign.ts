import { createHmac, randomUUID } from 'node:crypto'
import type { Verification, VerificationScheme } from '@postroad/contract'

export type SigningScheme = Exclude<VerificationScheme, 'none'>

type ToSign = { readonly secret: string; readonly body: Buffer; readonly time: string; readonly settings: Settings }
type Settings = Pick<Verification, 'header' | 'algorithm' | 'encoding' | 'prefix'>
type Headers = Readonly<Record<string, string>>

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?$/

/** What each kind of sender puts in its headers. */
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
}

export const SIGNING_SCHEMES: readonly string[] = Object.keys(SIGNERS)

export type Signing = {
  readonly scheme: SigningScheme
  readonly secret: string
  readonly body: Buffer
  readonly settings: Settings
}

/** The headers that sign a body now, as a sender of this scheme would. */
export function signatureHeaders({ scheme, ...request }: Signing): Headers {
  return SIGNERS[scheme]({ ...request, time: String(Math.floor(Date.now() / 1_000)) })
}

function hmac(...[key, before, body]: [key: string | Buffer, before: string, body: Buffer]): Buffer {
  return createHmac('sha256', key).update(before).update(body).digest()
}
