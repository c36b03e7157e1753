import type { VerificationSettings } from '@postroad/contract'
import { readChatPlatform } from './chat-platform.ts'
import { readCodeHost } from './code-host.ts'
import { readCommercePlatform } from './commerce-platform.ts'
import { readHmac } from './hmac.ts'
import { readPaymentsProvider } from './payments-provider.ts'
import { failureOf, type Reading, type Signed, type SignatureFailure } from './reading.ts'
import { readStandardWebhooks } from './standard-webhooks.ts'

export { type Signed, type SignatureFailure } from './reading.ts'
export { signDelivery, verifyServiceSignature } from './service-signature.ts'

/** The settings of an endpoint that verifies. */
export type SchemeSettings = Exclude<VerificationSettings, { scheme: 'none' }>

export type SignatureToVerify = Signed & { readonly settings: VerificationSettings }

export const NO_SECRET: SignatureFailure = {
  reason: 'bad_signature',
  step: 'secret',
  detail: 'This endpoint holds no secret yet. Set it with a change of its verification.',
}

/**
 * Checks a request against the verification of its endpoint, over the bytes as sent; undefined when it passes. The
 * signature is looked at first and its time after, so `stale_timestamp` proves that the secret is right. No secret
 * held refuses everything.
 */
export function verifySignature(request: SignatureToVerify): SignatureFailure | undefined {
  const { settings, headers } = request
  if (settings.scheme === 'none') return undefined
  if (request.secrets.length === 0) return NO_SECRET
  return failureOf(readSignature(settings, headers), request)
}

/** What the headers of a request say, as the scheme of its endpoint reads them. */
export function readSignature(settings: SchemeSettings, headers: Signed['headers']): Reading {
  switch (settings.scheme) {
    case 'payments_provider':
      return readPaymentsProvider(headers, settings.tolerance_seconds)
    case 'code_host':
      return readCodeHost(headers)
    case 'commerce_platform':
      return readCommercePlatform(headers)
    case 'chat_platform':
      return readChatPlatform(headers, settings.tolerance_seconds)
    case 'standard_webhooks':
      return readStandardWebhooks(headers, settings.tolerance_seconds)
    case 'hmac':
      return readHmac(headers, settings)
  }
}
