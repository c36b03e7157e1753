import type { Deps } from '../../../context.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { fillBucket, findBucket, takeToken } from './queries.ts'

/** So many at once, and one more each `refillMs`. All nodes count together. */
export type Limit = { readonly burst: number; readonly refillMs: number }

type Of = { readonly what: string; readonly whose: string }

// Kept as hashes: the table tells nobody who has tried to sign in.
const hashOf = ({ what, whose }: Of): Buffer => hashCredential(`${what}\n${whose}`)

/** Counts one try; throws 429 `too_many_attempts` when there were too many, and then counts nothing. */
export async function throttle(deps: Deps, of: Of & Limit): Promise<void> {
  const { burst, refillMs } = of
  const hash = hashOf(of)
  const now = new Date(deps.clock.now())
  if ((await takeToken(deps.database, { hash, now, refillMs, burst })) !== undefined) return
  const found = await findBucket(deps.database, hash)
  const waitMs = (found?.full_at.getTime() ?? 0) + refillMs - now.getTime() - refillMs * burst
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  throw new Refusal('too_many_attempts', {
    text: `Too many attempts. Wait ${seconds} s, then try again.`,
    fields: { retry_after: seconds },
  })
}

/** Forgets earlier tries: after the right password nobody has to wait. */
export function forgive(deps: Deps, of: Of): Promise<void> {
  return fillBucket(deps.database, hashOf(of))
}
