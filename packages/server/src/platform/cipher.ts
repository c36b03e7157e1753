import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { Secret } from './secret.ts'

/**
 * Sealed columns: AES-256-GCM under the newest key, a random 96-bit nonce, and the place of the value (table, column, row) as
 * additional data, so that a sealed value that is moved to another row does not open. Format: 1 byte version, 4 bytes key id,
 * 12 bytes nonce, 16 bytes tag, the ciphertext.
 */
export type Cipher = {
  seal(plain: string, place: string): Buffer
  open(sealed: Uint8Array, place: string): Secret
  /** The ids of the current keys, as sealed values carry them (8 hex digits), newest first. */
  readonly keyIds: () => KeyIds
  /** Keys for a purpose other than sealed columns, one for each current key, newest first. */
  subkeys(purpose: string): Subkeys
}

export type Subkey = { readonly id: string; readonly key: Uint8Array }

/** 32 bytes each, newest first. The older ones only open. */
export type Keys = readonly [Buffer, ...Buffer[]]
export type KeyIds = readonly [string, ...string[]]

const VERSION = 1
const KEY_ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SUBKEY_BYTES = 32
const HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES

const keyIdOf = (key: Buffer): string =>
  createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES).toString('hex')

type Ring = {
  readonly keys: Keys
  readonly ids: KeyIds
  readonly byId: ReadonlyMap<string, Buffer>
  readonly subkeys: Map<string, Subkeys>
}
type Subkeys = readonly [Subkey, ...Subkey[]]

function ringOf(keys: Keys): Ring {
  const [newest, ...older] = keys
  const ids: KeyIds = [keyIdOf(newest), ...older.map(keyIdOf)]
  return { keys, ids, byId: new Map(keys.map((key) => [keyIdOf(key), key])), subkeys: new Map() }
}

function subkeysOf({ keys: [newest, ...older] }: Ring, purpose: string): Subkeys {
  const subkey = (key: Buffer): Subkey => ({
    id: keyIdOf(key),
    key: new Uint8Array(hkdfSync('sha256', key, '', purpose, SUBKEY_BYTES)),
  })
  return [subkey(newest), ...older.map(subkey)]
}

/** A function returns the current keys. It is called before each seal, and when a value has an unknown key. */
export function createCipher(keys: Keys | (() => Keys)): Cipher {
  const now = typeof keys === 'function' ? keys : () => keys
  let ring = ringOf(now())
  const ringNow = (): Ring => {
    const current = now()
    if (current !== ring.keys) ring = ringOf(current)
    return ring
  }
  return {
    subkeys: (purpose) => {
      const current = ringNow()
      const known = current.subkeys.get(purpose)
      if (known !== undefined) return known
      const made = subkeysOf(current, purpose)
      current.subkeys.set(purpose, made)
      return made
    },
    seal: (plain, place) => {
      const {
        keys: [newest],
        ids: [id],
      } = ringNow()
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', newest, nonce).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from([VERSION]), Buffer.from(id, 'hex'), nonce, cipher.getAuthTag(), body])
    },
    open: (sealed, place) => {
      const bytes = Buffer.from(sealed)
      const id = bytes.subarray(1, 1 + KEY_ID_BYTES).toString('hex')
      const key = ring.byId.get(id) ?? ringNow().byId.get(id)
      if (bytes[0] !== VERSION || bytes.length < HEADER_BYTES || key === undefined) {
        throw new Error(
          `The sealed value at ${place} was sealed with another SECRET_KEY. Set SECRET_KEY_PREVIOUS to that key.`,
        )
      }
      const nonce = bytes.subarray(1 + KEY_ID_BYTES, 1 + KEY_ID_BYTES + NONCE_BYTES)
      const tag = bytes.subarray(HEADER_BYTES - TAG_BYTES, HEADER_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place)).setAuthTag(tag)
      return new Secret(decipher.update(bytes.subarray(HEADER_BYTES), undefined, 'utf8') + decipher.final('utf8'))
    },
    keyIds: () => ringNow().ids,
  }
}

/** Credentials are looked up by the SHA-256 of their text. The text itself is stored nowhere in clear. */
export function hashCredential(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
