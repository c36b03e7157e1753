import type { VerificationSettings } from '@postroad/contract'
import { digest } from './digest.ts'
import { readSignature, type SchemeSettings } from './schemes.ts'

export type RequestToSign = {
  readonly settings: SchemeSettings
  readonly secret: string
  /** Identifies this request, for schemes that sign an id. */
  readonly id: string
  readonly body: Uint8Array
  readonly nowSeconds: number
}

/** The headers that a sender with this secret would send with the body: what `verifySignature` accepts. */
export function signRequest(request: RequestToSign): Record<string, string> {
  const { settings, secret, body } = request
  const headers = unsigned(request)
  // The reader of the scheme knows which bytes are signed, so that signing and verifying cannot drift apart.
  const { recipe, before } = readSignature(settings, headers)
  const { prefix, algorithm, encoding, keyOf } = recipe
  const key = keyOf === undefined ? secret : keyOf(secret)
  const signature = prefix + digest({ key, before, body, algorithm, encoding })
  return { ...headers, ...signedBy(request, signature) }
}

/** What the signature covers besides the body. */
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
      return {}
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
  }
}

/** For how many seconds a signature made now is accepted; undefined: for as long as the secret is. */
export function signatureSeconds(settings: VerificationSettings): number | undefined {
  return 'tolerance_seconds' in settings ? settings.tolerance_seconds : undefined
}
