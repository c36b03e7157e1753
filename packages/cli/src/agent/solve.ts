import { pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'
import type { ChallengeParameters, Solution } from '@postroad/contract'

const derive = promisify(pbkdf2)
/** Node derives keys in four threads. */
const THREADS = 4
const COUNTERS = 4_294_967_296
const COUNTER_BYTES = 4

/** The first counter whose key starts with the prefix. `tried` gets the number of attempts now and then. */
export async function solve(parameters: ChallengeParameters, tried: (count: number) => void): Promise<Solution> {
  const state: { next: number; found: Solution | undefined } = { next: 0, found: undefined }
  const [salt, nonce] = [Buffer.from(parameters.salt, 'hex'), Buffer.from(parameters.nonce, 'hex')]
  const search = async (): Promise<void> => {
    while (state.found === undefined && state.next < COUNTERS && Date.now() < parameters.expiresAt * 1_000) {
      const counter = state.next
      state.next += 1
      if (counter % 256 === 0) tried(counter)
      const password = Buffer.alloc(nonce.length + COUNTER_BYTES)
      nonce.copy(password)
      password.writeUInt32BE(counter, nonce.length)
      // oxlint-disable-next-line no-await-in-loop -- one counter after the other in each thread
      const key = await derive(password, salt, parameters.cost, parameters.keyLength, 'sha256')
      const derivedKey = key.toString('hex')
      if (derivedKey.startsWith(parameters.keyPrefix)) state.found ??= { counter, derivedKey }
    }
  }
  await Promise.all(Array.from({ length: THREADS }, search))
  if (state.found === undefined) throw new Error('The challenge expired before it was solved.')
  return state.found
}
