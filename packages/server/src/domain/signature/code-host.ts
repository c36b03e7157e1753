import { anyEqual, digest, mismatch, missing, type Signed, type SignatureFailure } from './digest.ts'

const HEADER = 'X-Hub-Signature-256'

/** `sha256=<hex>` over the body. */
export function verifyCodeHost(request: Signed): SignatureFailure | undefined {
  const given = request.headers['x-hub-signature-256']
  if (given === undefined) return missing(HEADER)
  const matches = request.secrets.some((key) =>
    anyEqual([given], `sha256=${digest({ key, body: request.body, encoding: 'hex' })}`),
  )
  return matches ? undefined : mismatch(HEADER)
}
