import { certificateUrlOfSns } from './aws-sns.ts'
import { certificateUrlOfPayPal } from './paypal.ts'
import { isIssuerText } from './key-set.ts'
import { neededForToken } from './oidc-bearer.ts'
import { judge, type Needed, type Signed, type SignatureFailure } from './reading.ts'
import { certificateIn } from './signed-by-certificate.ts'
import { NO_SECRET, readSignature } from './schemes.ts'
import type { VerificationSettings } from './settings.ts'

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

/** Whether a text of a provider has what a check needs. */
export function isProviderText(text: string): boolean {
  return certificateIn(text) !== undefined || isIssuerText(text)
}

/**
 * The text that the check of a request needs next: a certificate on a host of the provider, or the keys of the issuer; or the
 * reason why the request is refused without it. undefined: the check needs none, or no other than the one that it has.
 */
export function neededText(
  settings: VerificationSettings,
  request: Pick<Signed, 'headers' | 'body' | 'secrets' | 'url' | 'fetched'>,
): Needed | SignatureFailure | undefined {
  if (request.secrets.length === 0) return undefined
  if (settings.scheme === 'oidc_bearer') return neededForToken(settings, request)
  if (request.fetched !== undefined) return undefined
  const url =
    settings.scheme === 'aws_sns'
      ? certificateUrlOfSns(request)
      : settings.scheme === 'paypal'
        ? certificateUrlOfPayPal(request)
        : undefined
  return typeof url === 'string' ? { url } : url
}
