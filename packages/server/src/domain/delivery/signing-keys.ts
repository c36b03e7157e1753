import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import type { SIGNING_SCHEMES } from '@postroad/contract'

/** The ed25519 keys of destinations, in the forms of Standard Webhooks: base64 after `whsk_` and `whpk_`. */

export type SigningScheme = (typeof SIGNING_SCHEMES)[number]
export type Signing = { readonly header: 'both' | 'service' | 'standard'; readonly scheme: SigningScheme }
/** The scheme is absent in rows from before it, and means hmac. */
export type StoredSigning = Pick<Signing, 'header'> & { readonly scheme?: SigningScheme | undefined }

export const signingOf = ({ header, scheme = 'hmac' }: StoredSigning): Signing => ({ header, scheme })

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SECRET_PREFIX = 'whsk_'
const PUBLIC_PREFIX = 'whpk_'
export const SEED_BYTES = 32

/** The secret key of a seed: the seed and the public key, as libsodium and other senders of Standard Webhooks store it. */
export function secretKeyOf(seed: Buffer): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return SECRET_PREFIX + Buffer.concat([seed, spki.subarray(-SEED_BYTES)]).toString('base64')
}

export type PublishedKey = { readonly id: string; readonly key: string; readonly x: string }

/** The public key in a secret key: its thumbprint (RFC 7638), `whpk_…`, and the `x` of its JWK. */
export function publishedKeyOf(secretKey: string): PublishedKey {
  const bytes = Buffer.from(secretKey.slice(SECRET_PREFIX.length), 'base64').subarray(SEED_BYTES)
  const x = bytes.toString('base64url')
  const id = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
  return { id, key: PUBLIC_PREFIX + bytes.toString('base64'), x }
}
