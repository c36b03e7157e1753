import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto'
import { createTurns } from './turns.ts'

/**
 * Passwords as argon2id in the PHC form, which carries its own parameters: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. A hash made
 * with other parameters still verifies, and is due for a new hash.
 */
export type PasswordHash = {
  hash(password: string): Promise<string>
  /** `due`: the hash is right but was made with parameters other than today's. */
  verify(password: string, hash: string): Promise<'wrong' | 'right' | 'due'>
  /** Takes as long as `verify`, for an account without a password or an unknown account. */
  pretend(password: string): Promise<void>
}

type Cost = { readonly memory: number; readonly passes: number; readonly parallelism: number }

/** OWASP's second choice of parameters: 19 MiB, 2 passes, about 50 ms. */
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32
const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** Hashing uses threads that DNS lookups need too, so few run together, and requests beyond the queue are refused. */
const AT_ONCE_MAX = 2
const WAITING_MAX = 100

/** Too many passwords are being checked at the moment. */
export class PasswordsBusy extends Error {}

const busy = (): Error => new PasswordsBusy('Too many passwords are being checked.')

export function createPasswordHash(cost: Cost = COST): PasswordHash {
  const turn = createTurns({ atOnce: AT_ONCE_MAX, waiting: { max: WAITING_MAX, busy } })
  const derive = (password: string, of: Cost & { salt: Buffer; bytes: number }): Promise<Buffer> => {
    const { salt, bytes, memory, passes, parallelism } = of
    return turn(() =>
      argon2id({
        message: Buffer.from(password.normalize('NFKC')),
        nonce: salt,
        memory,
        passes,
        parallelism,
        tagLength: bytes,
      }),
    )
  }
  return {
    hash: async (password) => {
      const salt = randomBytes(SALT_BYTES)
      const tag = await derive(password, { ...cost, salt, bytes: TAG_BYTES })
      return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(tag)}`
    },
    verify: async (password, hash) => {
      const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash) ?? []
      if (memory === undefined) return 'wrong'
      const made: Cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
      const expected = Buffer.from(tag, 'base64')
      const found = await derive(password, { ...made, salt: Buffer.from(salt, 'base64'), bytes: expected.length })
      if (!timingSafeEqual(found, expected)) return 'wrong'
      return made.memory === cost.memory && made.passes === cost.passes && made.parallelism === cost.parallelism
        ? 'right'
        : 'due'
    },
    pretend: async (password) => {
      await derive(password, { ...cost, salt: randomBytes(SALT_BYTES), bytes: TAG_BYTES })
    },
  }
}

function argon2id(parameters: Argon2Parameters): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, tag) => {
      if (error === null) resolve(tag)
      else reject(error)
    })
  })
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
