import {
  anyEqual,
  digest,
  malformed,
  mismatch,
  missing,
  type Signed,
  type SignatureFailure,
  staleness,
  unixSeconds,
} from './digest.ts'

const HEADER_SETS = ['webhook', 'svix'] as const
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?$/

/** `v1,<base64>` items over `<id>.<timestamp>.<body>`, in `webhook-*` headers or the older `svix-*`. */
export function verifyStandardWebhooks(request: Signed, tolerance: number): SignatureFailure | undefined {
  const { headers } = request
  const set = HEADER_SETS.find((name) => headers[`${name}-signature`] !== undefined) ?? 'webhook'
  const signatures = headers[`${set}-signature`]
  if (signatures === undefined) return missing(`${set}-signature`)
  const id = headers[`${set}-id`]
  if (id === undefined) return missing(`${set}-id`)
  const time = headers[`${set}-timestamp`]
  if (time === undefined) return missing(`${set}-timestamp`)
  const timestamp = unixSeconds(time)
  if (timestamp === undefined) return malformed(`${set}-timestamp`, '<unix seconds>')
  // A dot in the id could move the border between id, time and body, and so sign another body.
  if (id.includes('.')) return malformed(`${set}-id`, '<id without a dot>')

  const given = signatures.split(' ').filter((item) => item.startsWith('v1,'))
  const matches = request.secrets.some((secret) =>
    anyEqual(given, standardSignature(secret, { id, time, body: request.body })),
  )
  return matches ? staleness({ timestamp, nowSeconds: request.nowSeconds, tolerance }) : mismatch(`${set}-signature`)
}

/** `v1,<base64>` of one secret: the item that the sender writes and the receiver compares. */
export function standardSignature(
  secret: string,
  signed: { readonly id: string; readonly time: string; readonly body: Uint8Array | string },
): string {
  const before = `${signed.id}.${signed.time}.`
  return `v1,${digest({ key: standardKey(secret), before, body: signed.body, encoding: 'base64' })}`
}

/** The bytes behind `whsec_<base64>`; a secret in no such form is its own UTF-8 bytes. */
function standardKey(secret: string): Uint8Array {
  const encoded = secret.startsWith('whsec_') ? secret.slice(6) : secret
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(secret)
}
