import { createHmac, pbkdf2, timingSafeEqual } from 'node:crypto'
import { LIMITS, type Challenge, type ChallengeParameters, type Solution } from '@postroad/contract'

/** Three hexadecimal digits: 4,096 tries on average. */
const KEY_PREFIX = '000'
const TRIES = 4_096
const KEY_BYTES = 32
const NONCE_BYTES = 16
const DOUBLED_MAX = 4

/** The multiple of the work, by the used part of the day's cap. */
const STEPS: readonly { readonly below: number; readonly times: number }[] = [
  { below: 0.25, times: 1 },
  { below: 0.5, times: 2 },
  { below: 0.7, times: 4 },
  { below: 0.85, times: 8 },
  { below: 0.95, times: 16 },
  { below: Infinity, times: 32 },
]

export type Fill = {
  /** Iterations while few people have registered. */
  readonly work: number
  readonly registered: number
  readonly cap: number
  readonly network: string
  /** Registrations of the day from the same network. */
  readonly fromNetwork: number
}

/** The multiple of the work that a challenge demands. */
export function timesOf({ registered, cap, fromNetwork }: Omit<Fill, 'work' | 'network'>): number {
  const fill = cap === 0 ? 1 : registered / cap
  const { times } = STEPS.find(({ below }) => fill < below) ?? { times: 32 }
  return times * 2 ** Math.min(fromNetwork, DOUBLED_MAX)
}

/**
 * Whether a challenge is too easy by now. Others register while an agent works, so one doubling since then is allowed; a
 * stock of challenges from an earlier, easier time is not.
 */
export function isTooEasy({ data }: ChallengeParameters, now: Omit<Fill, 'work' | 'network'>): boolean {
  return data.times * 2 < timesOf(now)
}

export type Drawing = { readonly now: number; readonly randomBytes: (count: number) => Buffer }

/** The parameters of a challenge. A hard challenge lives longer, because its solution times vary more. */
export function drawParameters({ now, randomBytes }: Drawing, fill: Fill): ChallengeParameters {
  const times = timesOf(fill)
  const life = times >= 16 ? LIMITS.agentHardChallengeMs : LIMITS.agentChallengeMs
  return {
    algorithm: 'PBKDF2/SHA-256',
    cost: Math.max(1, Math.round((fill.work * times) / TRIES)),
    data: { network: fill.network, times, v: 1 },
    expiresAt: Math.floor((now + life) / 1_000),
    keyLength: KEY_BYTES,
    keyPrefix: KEY_PREFIX,
    nonce: randomBytes(NONCE_BYTES).toString('hex'),
    salt: randomBytes(NONCE_BYTES).toString('hex'),
  }
}

export function signatureOf(parameters: ChallengeParameters, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(canonical(parameters)).digest()
}

/** JSON with its members sorted, which is the text that ALTCHA signs. */
function canonical(parameters: ChallengeParameters): string {
  return JSON.stringify(Object.fromEntries(Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

/** Whether one of these keys signed the challenge. */
export function isSigned({ parameters, signature }: Challenge, keys: readonly Uint8Array[]): boolean {
  const given = Buffer.from(signature, 'hex')
  return keys.some((key) => timingSafeEqual(signatureOf(parameters, key), given))
}

/** Derives the key of the counter once. */
export async function isSolved(parameters: ChallengeParameters, { counter, derivedKey }: Solution): Promise<boolean> {
  if (!derivedKey.startsWith(parameters.keyPrefix)) return false
  const { cost, keyLength, salt, nonce } = parameters
  const password = Buffer.alloc(NONCE_BYTES + 4)
  password.write(nonce, 'hex')
  password.writeUInt32BE(counter, NONCE_BYTES)
  const key = await new Promise<Buffer>((resolve, reject) => {
    pbkdf2(password, Buffer.from(salt, 'hex'), cost, keyLength, 'sha256', (error, derived) =>
      error === null ? resolve(derived) : reject(error),
    )
  })
  return timingSafeEqual(key, Buffer.from(derivedKey, 'hex'))
}
