import { anyEqual, digest, mismatch, missing, type Signed, type SignatureFailure } from './digest.ts'

const HEADER = 'X-Shopify-Hmac-Sha256'

/** The base64 digest of the body. */
export function verifyCommercePlatform(request: Signed): SignatureFailure | undefined {
  const given = request.headers['x-shopify-hmac-sha256']
  if (given === undefined) return missing(HEADER)
  const matches = request.secrets.some((key) =>
    anyEqual([given], digest({ key, body: request.body, encoding: 'base64' })),
  )
  return matches ? undefined : mismatch(HEADER)
}
