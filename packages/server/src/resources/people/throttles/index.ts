import type { Deps } from '../../../context.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { fillBucket, findBucket, takeToken } from './queries.ts'

/** A burst of `burst` tries, and one more each `refillMs`. All nodes share the count. */
export type Limit = { readonly burst: number; readonly refillMs: number }

type Of = { readonly what: string; readonly whose: string }

// Stored as hashes, so that the table does not reveal who has tried to sign in.
const hashOf = ({ what, whose }: Of): Buffer => hashCredential(`${what}\n${whose}`)

/** Counts one try. When there were too many, it throws 429 `too_many_attempts` and does not count the try. */
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

/** Counts one try and returns whether there was room for it. For work that is skipped when it comes too often. */
export async function hasRoom(deps: Pick<Deps, 'database' | 'clock'>, of: Of & Limit): Promise<boolean> {
  const { burst, refillMs } = of
  const bucket = { hash: hashOf(of), now: new Date(deps.clock.now()), refillMs, burst }
  return (await takeToken(deps.database, bucket)) !== undefined
}

/** Deletes earlier tries, so that the person does not wait after the correct password. */
export function forgive(deps: Deps, of: Of): Promise<void> {
  return fillBucket(deps.database, hashOf(of))
}
