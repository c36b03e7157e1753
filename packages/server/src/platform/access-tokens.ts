import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { JWTPayload } from 'jose'
import type { Cipher } from './cipher.ts'

/**
 * The keys of OAuth access tokens. Each is derived from a SECRET_KEY for this purpose alone, so nothing is stored, and
 * every node has the same keys. A token of a previous key is valid while that key is set.
 */
export type AccessTokens = {
  /** Names the current keys. It changes with them. */
  readonly version: () => string
  /** The private keys, newest first, as the library that signs takes them. */
  readonly privateKeys: () => readonly SigningJwk[]
  /** The claims of a valid token; undefined when it was not signed here, is for another audience, or has expired. */
  verify(token: string, expected: { issuer: string; audience: string; now: number }): Promise<JWTPayload | undefined>
}

export type SigningJwk = {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly d: string
  readonly kid: string
  readonly alg: 'EdDSA'
  readonly use: 'sig'
}

const PURPOSE = 'oauth access tokens'
const TOKEN_CHARS_MAX = 4_096
/** A private Ed25519 key in PKCS #8 is this and its 32 bytes. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

export function createAccessTokens(cipher: Cipher): AccessTokens {
  const keys = new Map<string, KeyObject>()
  const keyOf = ({ id, key }: { id: string; key: Uint8Array }): KeyObject => {
    const known = keys.get(id)
    if (known !== undefined) return known
    const made = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, key]), format: 'der', type: 'pkcs8' })
    keys.set(id, made)
    return made
  }
  return {
    version: () => cipher.keyIds().join(' '),
    privateKeys: () => cipher.subkeys(PURPOSE).map((subkey) => jwkOf(keyOf(subkey), subkey.id)),
    verify: async (token, { issuer, audience, now }) => {
      if (token.length > TOKEN_CHARS_MAX) return undefined
      const { decodeProtectedHeader, jwtVerify } = await import('jose')
      try {
        const { kid } = decodeProtectedHeader(token)
        const subkey = cipher.subkeys(PURPOSE).find(({ id }) => id === kid)
        if (subkey === undefined) return undefined
        const { payload } = await jwtVerify(token, createPublicKey(keyOf(subkey)), {
          algorithms: ['EdDSA'],
          typ: 'at+jwt',
          issuer,
          audience,
          currentDate: new Date(now),
          requiredClaims: ['exp', 'sub'],
        })
        return payload
      } catch {
        return undefined
      }
    },
  }
}

function jwkOf(key: KeyObject, kid: string): SigningJwk {
  const { x = '', d = '' } = key.export({ format: 'jwk' })
  return { kty: 'OKP', crv: 'Ed25519', x, d, kid, alg: 'EdDSA', use: 'sig' }
}
