import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import type { VerificationSettings } from '@postroad/contract'
import type { Reading, Recipe } from './reading.ts'
import { readSignedContent, type Called } from './signed-content.ts'

export type PublicKeySettings = Extract<VerificationSettings, { scheme: 'public_key' }>
type KeyAlgorithm = PublicKeySettings['algorithm']

/** How many signatures of one request are checked: each takes as long as a hundred HMACs. */
const CHECKED_MAX = 4

/** A signature by the private key of the sender, over the content that the settings describe. The secret is its public key. */
export function readPublicKey(called: Called, settings: PublicKeySettings): Reading {
  const { algorithm, encoding } = settings
  const { contentOf, ...read } = readSignedContent(called, settings, WELL_FORMED[algorithm][encoding])
  const recipe: Recipe = {
    prefix: '',
    algorithm: 'sha256',
    encoding,
    accepts: (secret, { reading, body }) => {
      const key = publicKeyOf(secret, algorithm)
      if (key === undefined) return false
      const content = Buffer.concat([
        Buffer.from(reading.before),
        contentOf === undefined ? body : Buffer.from(contentOf(body)),
        Buffer.from(reading.after ?? ''),
      ])
      const hash = algorithm === 'ed25519' ? null : 'sha256'
      const given = new Set(reading.given.filter((text) => WELL_FORMED[algorithm][encoding].test(text)))
      return [...given]
        .slice(0, CHECKED_MAX)
        .some((text) => isSignedBy(key, { hash, content, given: Buffer.from(text, encoding) }))
    },
  }
  return { ...read, recipe }
}

function isSignedBy(
  key: KeyObject,
  { hash, content, given }: { readonly hash: 'sha256' | null; readonly content: Buffer; readonly given: Buffer },
): boolean {
  try {
    return verify(hash, content, key, given)
  } catch {
    return false
  }
}

const CURVE_FORMS = {
  hex: /^(?:[0-9a-fA-F]{2}){64,80}$/,
  base64: /^[A-Za-z0-9+/]{84,108}={0,2}$/,
  base64url: /^[A-Za-z0-9_-]{84,108}={0,2}$/,
} as const

/** An ed25519 signature has 64 bytes, one by ECDSA about 72 in DER, and one by RSA as many as its key: 256 to 1,024. */
const WELL_FORMED = {
  ed25519: CURVE_FORMS,
  ecdsa_sha256: CURVE_FORMS,
  rsa_sha256: {
    hex: /^(?:[0-9a-fA-F]{2}){256,1024}$/,
    base64: /^[A-Za-z0-9+/]{340,1366}={0,2}$/,
    base64url: /^[A-Za-z0-9_-]{340,1366}={0,2}$/,
  },
} as const

const RSA_BITS = { min: 2_048, max: 8_192 } as const

const KEYS_MAX = 1_000
const keys = new Map<string, KeyObject | undefined>()

/** The public key in a secret: PEM, DER in base64, or for ed25519 its 32 bytes in base64 or hex. undefined: none. */
export function publicKeyOf(secret: string, algorithm: KeyAlgorithm): KeyObject | undefined {
  const name = `${algorithm} ${secret}`
  if (keys.has(name)) return keys.get(name)
  if (keys.size >= KEYS_MAX) keys.clear()
  const key = parsed(secret.trim(), algorithm)
  keys.set(name, key)
  return key
}

const ED25519_DER_START = '302a300506032b6570032100'

function parsed(text: string, algorithm: KeyAlgorithm): KeyObject | undefined {
  try {
    const key = createPublicKey(
      text.startsWith('-----BEGIN') ? text : { key: derOf(text), format: 'der', type: 'spki' },
    )
    return fits(key, algorithm) ? key : undefined
  } catch {
    return undefined
  }
}

function derOf(text: string): Buffer {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  return bytes.length === 32 ? Buffer.concat([Buffer.from(ED25519_DER_START, 'hex'), bytes]) : bytes
}

function fits({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, algorithm: KeyAlgorithm): boolean {
  if (algorithm === 'ed25519') return asymmetricKeyType === 'ed25519'
  if (algorithm === 'rsa_sha256') {
    const bits = asymmetricKeyType === 'rsa' ? (asymmetricKeyDetails?.modulusLength ?? 0) : 0
    return bits >= RSA_BITS.min && bits <= RSA_BITS.max
  }
  return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'
}
