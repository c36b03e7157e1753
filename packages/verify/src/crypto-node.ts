import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  sign,
  timingSafeEqual,
  verify,
  type KeyObject,
} from 'node:crypto'
import {
  ED25519_PKCS8,
  type Hashed,
  type HmacOptions,
  type PublicKey,
  type SignedBytes,
  type ToSign,
} from './crypto.ts'

/** The cryptography of Node, which answers at once. `crypto-web.ts` has the same functions for other platforms. */

export function hmac({ algorithm, key, pieces, encoding }: HmacOptions): string {
  // Node takes three times as long with a key as bytes as with a key object.
  const made = createHmac(algorithm, typeof key === 'string' ? key : createSecretKey(key))
  for (const piece of pieces) made.update(piece)
  return made.digest(encoding)
}

export function sha256({ content, encoding }: Hashed): string {
  return createHash('sha256').update(content).digest(encoding)
}

/** Compares in constant time. */
export function isEqual(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

const keys = new WeakMap<PublicKey, KeyObject | null>()

function keyObject(key: PublicKey): KeyObject | null {
  const known = keys.get(key)
  if (known !== undefined) return known
  const read = imported(key)
  keys.set(key, read)
  return read
}

function imported({ spki }: PublicKey): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

export function isUsable(key: PublicKey): boolean {
  return keyObject(key) !== null
}

export function isSigned(key: PublicKey, { hash, content, signature }: SignedBytes): boolean {
  const own = keyObject(key)
  if (own === null) return false
  try {
    const asked = key.kind === 'p256' ? { key: own, dsaEncoding: 'ieee-p1363' as const } : own
    return verify(key.kind === 'ed25519' ? null : hash, content, asked, signature)
  } catch {
    return false
  }
}

/** The ed25519 signature of the content, in base64. */
export function ed25519({ seed, content }: ToSign): string {
  const pkcs8 = Buffer.concat([Buffer.from(ED25519_PKCS8, 'hex'), seed])
  return sign(null, content, createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })).toString('base64')
}

/** The bytes behind a text; a character outside of the encoding ends or is skipped, so callers check the form first. */
export function bytesOf(text: string, encoding: 'utf8' | 'hex' | 'base64'): Uint8Array {
  return Buffer.from(text, encoding)
}

export function textOf(bytes: Uint8Array, encoding: 'utf8' | 'hex' | 'base64' | 'base64url'): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding)
}

/** Runs a decision that uses these functions. Here it never waits. */
export async function whenAnswered<T>(decide: () => T): Promise<T> {
  return decide()
}
