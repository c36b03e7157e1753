import { createHmac } from 'node:crypto'

/** A challenge of the server, as far as a solver needs it. */
export type Challenge = {
  readonly parameters: {
    readonly cost: number
    readonly keyLength: number
    readonly keyPrefix: string
    readonly nonce: string
    readonly salt: string
  }
  readonly signature: string
}

export type Solution = { readonly counter: number; readonly derivedKey: string }

const NONCE_BYTES = 16
const BLOCK = Buffer.from([0, 0, 0, 1])

/**
 * Solves a challenge of cost 1 by trying counters. PBKDF2 with one iteration is one HMAC, so thousands of solutions take seconds; the
 * experiment is about the caps, not about the work.
 */
export function solve({ parameters: { cost, keyPrefix, nonce, salt } }: Challenge): Solution {
  if (cost !== 1) throw new Error(`The challenge costs ${cost}; start the server with AGENT_WORK=1.`)
  const password = Buffer.alloc(NONCE_BYTES + 4)
  password.write(nonce, 'hex')
  const salted = Buffer.concat([Buffer.from(salt, 'hex'), BLOCK])
  for (let counter = 0; ; counter += 1) {
    password.writeUInt32BE(counter, NONCE_BYTES)
    const derivedKey = createHmac('sha256', password).update(salted).digest('hex')
    if (derivedKey.startsWith(keyPrefix)) return { counter, derivedKey }
  }
}
