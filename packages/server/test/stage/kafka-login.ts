import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

/** The side of a broker in SASL: PLAIN of RFC 4616, and SCRAM of RFC 5802. */

export type Mechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
export type KafkaUser = {
  readonly mechanism: Mechanism
  readonly name: string
  readonly password: string
  /** The iterations that a broker demands. */
  readonly iterations?: number
  /** The first answer of the broker, instead of the correct one. */
  readonly saysFirst?: string
}

/** One login: accepts the bytes of the client and returns the answer; undefined: the credentials are wrong. */
export type Login = (sent: Buffer) => Buffer | undefined

export const loginOf = (user: KafkaUser): Login => (user.mechanism === 'PLAIN' ? plain(user) : scram(user))

const plain =
  ({ name, password }: KafkaUser): Login =>
  (sent) =>
    sent.toString() === `\0${name}\0${password}` ? Buffer.alloc(0) : undefined

function scram({ mechanism, name, password, iterations = 4_096, saysFirst }: KafkaUser): Login {
  const digest = mechanism === 'SCRAM-SHA-256' ? 'sha256' : 'sha512'
  const hash = (bytes: Buffer): Buffer => createHash(digest).update(bytes).digest()
  const hmac = (key: Buffer, text: string): Buffer => createHmac(digest, key).update(text).digest()
  const salt = randomBytes(16)
  let started: { readonly client: string; readonly server: string } | undefined
  return (sent) => {
    const text = sent.toString()
    if (started === undefined) {
      const client = text.replace(/^n,,/, '')
      const [, user, nonce] = /^n=([^,]*),r=(.*)$/.exec(client) ?? []
      if (user !== name) return undefined
      const server = `r=${nonce}${randomBytes(8).toString('hex')},s=${salt.toString('base64')},i=${iterations}`
      started = { client, server }
      return Buffer.from(saysFirst ?? server)
    }
    const [withoutProof = '', proof = ''] = text.split(',p=')
    const exchanged = `${started.client},${started.server},${withoutProof}`
    const salted = pbkdf2Sync(password, salt, iterations, digest === 'sha256' ? 32 : 64, digest)
    const key = hmac(salted, 'Client Key')
    const signature = hmac(hash(key), exchanged)
    const wanted = Buffer.from(key.map((byte, index) => byte ^ (signature[index] ?? 0)))
    const given = Buffer.from(proof, 'base64')
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
    return Buffer.from(`v=${hmac(hmac(salted, 'Server Key'), exchanged).toString('base64')}`)
  }
}
