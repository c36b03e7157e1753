import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'))

/** A passkey in software: it does the work of a phone or a security key, without the touch. */
export class Authenticator {
  readonly id = randomBytes(16).toString('base64url')
  readonly #privateKey: KeyObject
  readonly #cose: Uint8Array
  counter = 0
  /** Flags: 1 user present, 4 user verified. */
  flags = 0x05

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    this.#privateKey = privateKey
    this.#cose = isoCBOR.encode(
      new Map<number, number | Uint8Array<ArrayBuffer>>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, bytes(x)],
        [-3, bytes(y)],
      ]),
    )
  }

  /** Like navigator.credentials.create() on a page of this origin. */
  create(options: { challenge: string; rp: { id?: string } }, origin: string) {
    const clientData = this.#clientData('webauthn.create', { challenge: options.challenge, origin })
    const id = Buffer.from(this.id, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(id.length)
    const authData = Buffer.concat([this.#head(options.rp.id ?? '', 0x40), Buffer.alloc(16), length, id, this.#cose])
    const attestation = isoCBOR.encode(
      new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', new Uint8Array(authData)],
      ]) as never,
    )
    return this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: Buffer.from(attestation).toString('base64url'),
      transports: ['internal'],
    })
  }

  /** Like navigator.credentials.get() on a page of this origin. */
  get(options: { challenge: string; rpId?: string }, origin: string) {
    const clientData = this.#clientData('webauthn.get', { challenge: options.challenge, origin })
    this.counter += 1
    const authData = this.#head(options.rpId ?? '', 0)
    const signature = createSign('sha256')
      .update(authData)
      .update(createHash('sha256').update(clientData).digest())
      .sign(this.#privateKey)
    return this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: signature.toString('base64url'),
    })
  }

  #credential(response: object) {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response }
  }

  #clientData(type: string, of: { challenge: string; origin: string }): Buffer {
    return Buffer.from(JSON.stringify({ type, ...of, crossOrigin: false }))
  }

  #head(rpId: string, more: number): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([this.flags | more]), counter])
  }
}
