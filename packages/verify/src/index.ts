import type { VerificationSettings } from '@postroad/contract'
import { certificateUrlOfSns } from './aws-sns.ts'
import { certificateUrlOfPayPal } from './paypal.ts'
import { judge, type Signed, type SignatureFailure } from './reading.ts'
import { NO_SECRET, readSignature } from './schemes.ts'

export { subscribeUrlOf } from './aws-sns.ts'
export { explainSignature, type ExplainedStep } from './explain.ts'
export { SIGNATURE_STEPS, type Signed, type SignatureFailure, type SignatureStep } from './reading.ts'
export { otherHeaderHints, type HeldSecret, type SchemeSettings } from './schemes.ts'
export { signDelivery, verifyDelivery, verifyServiceSignature } from './service-signature.ts'
export { validateSecretForm } from './secret-form.ts'
export { isSignable, signatureSeconds, signRequest } from './sign-request.ts'

export type SignatureToVerify = Signed & { readonly settings: VerificationSettings }

/**
 * Checks a request against the verification of its endpoint, over the bytes as sent; undefined when it passes. The signature is
 * checked before its time, so `stale_timestamp` proves that the secret is right. Without a stored secret, every request is
 * refused.
 */
export function verifySignature(request: SignatureToVerify): SignatureFailure | undefined {
  const { settings, headers } = request
  if (settings.scheme === 'none') return undefined
  if (request.secrets.length === 0) return NO_SECRET
  return judge(readSignature(settings, headers, request), request).failure
}

/**
 * The URL of the certificate that a signature needs, on a host of the provider; or the reason why the request is
 * refused without it. undefined: the check needs no certificate.
 */
export function certificateUrlOf(
  settings: VerificationSettings,
  request: Pick<Signed, 'headers' | 'body' | 'secrets'>,
): string | SignatureFailure | undefined {
  if (request.secrets.length === 0) return undefined
  if (settings.scheme === 'aws_sns') return certificateUrlOfSns(request)
  return settings.scheme === 'paypal' ? certificateUrlOfPayPal(request) : undefined
}
