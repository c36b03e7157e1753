import { networkOf } from '../../../domain/ip-range.ts'
import { refuse } from '../../../domain/refusal.ts'
import { isPassword } from '../passwords/index.ts'
import { forgive, throttle } from '../throttles/index.ts'
import { findUserByEmail } from '../users/index.ts'
import { atTheDoor, throttleNetwork, welcome, type Visit } from './visit.ts'

/** Tries for one account from one network: a burst of 10, then one a minute. */
const NEAR = { burst: 10, refillMs: 60_000 } as const
/** Tries for one account from everywhere. Its owner can still sign in with a link or a passkey. */
const ALL = { burst: 100, refillMs: 30_000 } as const

/** Returns the secret of the new session. The counting and the duration are the same for an account that does not exist. */
export async function signInByPassword(
  visit: Visit,
  { email, password }: { email: string; password: string },
): Promise<string> {
  const account = email.toLowerCase()
  const near = { what: 'password near', whose: `${account}\n${networkOf(visit.ip)}` }
  await throttleNetwork(visit)
  await throttle(visit, { ...near, ...NEAR })
  await throttle(visit, { what: 'password', whose: account, ...ALL })
  const user = await findUserByEmail(visit.database, email)
  const right = await isPassword(visit, { userId: user?.id, password })
  if (user === undefined || !right) {
    visit.log.info('sign_in.failed', { method: 'password', request_id: visit.requestId, ip: visit.ip })
    throw refuse('sign_in_failed')
  }
  await forgive(visit, near)
  return atTheDoor(visit, (tx) => welcome(visit, tx, { userId: user.id, method: 'password' }))
}
