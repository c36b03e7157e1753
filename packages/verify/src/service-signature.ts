import { digest } from './digest.ts'
import { TOLERANCE_SECONDS } from './limits.ts'
import { judge, type Signed, type SignatureFailure } from './reading.ts'
import { readStandardWebhooks, standardSignature } from './standard-webhooks.ts'
import { readTimestamped } from './timestamped.ts'

/**
 * The input for signing a delivery. The first secret is the destination's current one; during an overlap the previous one
 * follows.
 */
export type DeliveryToSign = {
  readonly secrets: readonly string[]
  /** The event id, the same on every attempt. */
  readonly id: string
  readonly body: string | Uint8Array
  readonly timestampSeconds: number
  /** The constructions to send: our own, the one of standardwebhooks.com, or both. */
  readonly header: 'both' | 'service' | 'standard'
  /** The ed25519 keys (`whsk_`), in the same order. They sign only the headers of standardwebhooks.com, as `v1a`. */
  readonly keys?: readonly string[]
  /** `ed25519`: the secrets do not sign the headers of standardwebhooks.com. Absent: `hmac`. */
  readonly scheme?: 'hmac' | 'ed25519' | 'both'
}

/**
 * The signature headers of one attempt. During an overlap they contain a signature by each secret. Empty when there is no
 * secret.
 */
export function signDelivery(delivery: DeliveryToSign): Record<string, string> {
  const { secrets, id, body, header, keys = [], scheme = 'hmac' } = delivery
  if (secrets.length === 0) return {}
  const time = String(delivery.timestampSeconds)
  const before = `${time}.`
  const headers: Record<string, string> = {}
  if (header !== 'standard') {
    const items = secrets.map((key) => `,v1=${digest({ key, before, body, encoding: 'hex' })}`)
    headers['Service-Signature'] = `t=${time}${items.join('')}`
  }
  if (header !== 'service') {
    headers['webhook-id'] = id
    headers['webhook-timestamp'] = time
    const signing = [...(scheme === 'ed25519' ? [] : secrets), ...(scheme === 'hmac' ? [] : keys)]
    headers['webhook-signature'] = signing.map((secret) => standardSignature(secret, { id, time, body })).join(' ')
  }
  return headers
}

/**
 * The `X-Service-Signature` that an ingest key may require (contract part 4, ingest rule 5). Without a stored secret, every
 * request is refused.
 */
export function verifyServiceSignature(request: Signed): SignatureFailure | undefined {
  if (request.secrets.length === 0)
    return { reason: 'bad_signature', step: 'secret', detail: 'This ingest key has no secret yet.' }
  const reading = readTimestamped(request.headers, {
    headers: ['X-Service-Signature'],
    tolerance: TOLERANCE_SECONDS,
  })
  return judge(reading, request).failure
}

/** Checks our delivery as its receiver does: by `Service-Signature`, or without one by `webhook-signature`. */
export function verifyDelivery(request: Signed): SignatureFailure | undefined {
  const tolerance = TOLERANCE_SECONDS
  const own = readTimestamped(request.headers, { headers: ['Service-Signature'], tolerance })
  return judge(own.value === undefined ? readStandardWebhooks(request.headers, tolerance) : own, request).failure
}
