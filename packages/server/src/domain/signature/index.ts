import type { VerificationSettings } from '@postroad/contract'
import { verifyChatPlatform } from './chat-platform.ts'
import { verifyCodeHost } from './code-host.ts'
import { verifyCommercePlatform } from './commerce-platform.ts'
import type { Signed, SignatureFailure } from './digest.ts'
import { verifyHmac } from './hmac.ts'
import { verifyPaymentsProvider } from './payments-provider.ts'
import { verifyStandardWebhooks } from './standard-webhooks.ts'

export type { Signed, SignatureFailure } from './digest.ts'
export { signDelivery, verifyServiceSignature } from './service-signature.ts'

export type SignatureToVerify = Signed & { readonly settings: VerificationSettings }

/**
 * Checks a request against the verification of its endpoint, over the bytes as sent; undefined when it passes. The
 * signature is looked at first and its time after, so `stale_timestamp` proves that the secret is right. No secret
 * held refuses everything.
 */
export function verifySignature(request: SignatureToVerify): SignatureFailure | undefined {
  const { settings } = request
  if (settings.scheme === 'none') return undefined
  if (request.secrets.length === 0) {
    return {
      reason: 'bad_signature',
      detail: 'This endpoint holds no secret yet. Set it with a change of its verification.',
    }
  }
  switch (settings.scheme) {
    case 'payments_provider':
      return verifyPaymentsProvider(request, settings.tolerance_seconds)
    case 'code_host':
      return verifyCodeHost(request)
    case 'commerce_platform':
      return verifyCommercePlatform(request)
    case 'chat_platform':
      return verifyChatPlatform(request, settings.tolerance_seconds)
    case 'standard_webhooks':
      return verifyStandardWebhooks(request, settings.tolerance_seconds)
    case 'hmac':
      return verifyHmac(request, settings)
  }
}
