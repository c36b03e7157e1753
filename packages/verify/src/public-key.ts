import { bytesOf, isSigned } from '#crypto'
import type { VerificationSettings } from './settings.ts'
import type { SignedBytes } from './crypto.ts'
import { rawSignature } from './ecdsa-signature.ts'
import { publicKeyIn, type KeyKind } from './public-keys.ts'
import type { Reading, Recipe } from './reading.ts'
import { inEachSpelling, readSignedContent, type Called } from './signed-content.ts'

export type PublicKeySettings = Extract<VerificationSettings, { scheme: 'public_key' }>
type KeyAlgorithm = PublicKeySettings['algorithm']

/** How many signatures of one request are checked: each takes as long as a hundred HMACs. */
const CHECKED_MAX = 4

/** A signature by the private key of the sender, over the content that the settings describe. The secret is its public key. */
export function readPublicKey(called: Called, settings: PublicKeySettings): Reading {
  return inEachSpelling(called, { settings, read: (one) => readOne(one, settings) })
}

function readOne(called: Called, settings: PublicKeySettings): Reading {
  const { algorithm, encoding } = settings
  const { contentOf, ...read } = readSignedContent(called, settings, WELL_FORMED[algorithm][encoding])
  const recipe: Recipe = {
    prefix: '',
    algorithm: 'sha256',
    encoding,
    accepts: (secret, { reading, body }) => {
      const key = publicKeyIn(secret, KINDS[algorithm])
      if (key === undefined) return false
      const content = joined([reading.before, contentOf === undefined ? body : contentOf(body), reading.after ?? ''])
      const given = new Set(reading.given.filter((text) => WELL_FORMED[algorithm][encoding].test(text)))
      return [...given].slice(0, CHECKED_MAX).some((text) => {
        const signature = signatureIn(text, settings)
        return signature !== undefined && isSigned(key, { hash: 'sha256', content, signature })
      })
    },
  }
  return { ...read, recipe }
}

export const KINDS = { ed25519: 'ed25519', ecdsa_sha256: 'p256', rsa_sha256: 'rsa' } as const satisfies Readonly<
  Record<KeyAlgorithm, KeyKind>
>

function signatureIn(text: string, { algorithm, encoding }: PublicKeySettings): SignedBytes['signature'] | undefined {
  const bytes = bytesOf(text, encoding === 'hex' ? 'hex' : 'base64')
  return algorithm === 'ecdsa_sha256' ? rawSignature(bytes) : bytes
}

/** The pieces as one array of bytes. */
export function joined(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  const parts = pieces.map((piece) => (typeof piece === 'string' ? bytesOf(piece, 'utf8') : piece))
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
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
