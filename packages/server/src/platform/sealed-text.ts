import type { Cipher } from './cipher.ts'

/**
 * Small texts that leave the server and come back unread and unchanged, such as cookies: JWE, `dir` with A256GCM, under a key
 * derived from SECRET_KEY for this purpose alone. `kid` names the key, so that a previous key still opens while it is set.
 */
export type SealedText = {
  seal(plain: string): Promise<string>
  /** Undefined when it was not sealed here for this purpose, or was changed meanwhile. */
  open(sealed: string): Promise<string | undefined>
}

const SEALED_CHARS_MAX = 4_096

export function createSealedText(cipher: Cipher, purpose: string): SealedText {
  return {
    seal: async (plain) => {
      const { CompactEncrypt } = await import('jose')
      const [newest] = cipher.subkeys(purpose)
      return new CompactEncrypt(new TextEncoder().encode(plain))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: newest.id })
        .encrypt(newest.key)
    },
    open: async (sealed) => {
      if (sealed.length > SEALED_CHARS_MAX) return undefined
      const { compactDecrypt, decodeProtectedHeader } = await import('jose')
      try {
        const { kid } = decodeProtectedHeader(sealed)
        const found = cipher.subkeys(purpose).find(({ id }) => id === kid)
        if (found === undefined) return undefined
        const { plaintext } = await compactDecrypt(sealed, found.key, {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
        })
        return new TextDecoder().decode(plaintext)
      } catch {
        return undefined
      }
    },
  }
}
