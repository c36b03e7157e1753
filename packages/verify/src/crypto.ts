import type { DIGEST_ENCODINGS, HMAC_ALGORITHMS } from './described-content.ts'

/** The cryptography that the verifier needs of its platform. `#crypto` is the file of the platform. */

export type HmacAlgorithm = (typeof HMAC_ALGORITHMS)[number]
export type DigestEncoding = (typeof DIGEST_ENCODINGS)[number]

export type HmacOptions = {
  readonly algorithm: HmacAlgorithm
  /** A text counts as its UTF-8 bytes. */
  readonly key: string | Uint8Array
  readonly pieces: readonly (string | Uint8Array)[]
  readonly encoding: DigestEncoding
}

export type Hashed = { readonly content: string | Uint8Array; readonly encoding: DigestEncoding }

/** A public key as its SubjectPublicKeyInfo in DER. */
export type PublicKey = {
  readonly kind: 'ed25519' | 'p256' | 'rsa'
  readonly spki: Uint8Array
  /** The size of the modulus of an RSA key; 256 for the others. */
  readonly bits: number
}

/** `signature`: of a P-256 key, r and s of 32 bytes each. `hash`: not used by ed25519. */
export type SignedBytes = {
  readonly hash: 'sha1' | 'sha256'
  readonly content: Uint8Array
  readonly signature: Uint8Array
}

/** Content to sign with an ed25519 key. `seed`: the 32 bytes of the secret key. */
export type ToSign = { readonly seed: Uint8Array; readonly content: Uint8Array }

/** PKCS #8 of an ed25519 key is this and the seed. */
export const ED25519_PKCS8 = '302e020100300506032b657004220420'
