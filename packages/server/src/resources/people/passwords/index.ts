import type { Ctx, Deps } from '../../../context.ts'
import { whyWeakPassword } from '../../../domain/people/password-rule.ts'
import { refuse } from '../../../domain/refusal.ts'
import { PasswordsBusy } from '../../../platform/password-hash.ts'
import { findPassword, putPassword, replaceHash } from './queries.ts'

export async function hasPassword(deps: Deps, userId: string): Promise<boolean> {
  return (await findPassword(deps.database, userId)) !== undefined
}

/**
 * Whether this is the person's password. Takes as long for nobody, and for who has none. A right one whose hash was made
 * under former parameters is hashed anew.
 */
export async function isPassword(deps: Deps, of: { userId: string | undefined; password: string }): Promise<boolean> {
  const { userId, password } = of
  const stored = userId === undefined ? undefined : await findPassword(deps.database, userId)
  return unlessBusy(async () => {
    if (userId === undefined || stored === undefined) {
      await deps.passwordHash.pretend(password)
      return false
    }
    const verdict = await deps.passwordHash.verify(password, stored.hash)
    if (verdict === 'due')
      await replaceHash(deps.database, { userId, from: stored.hash, to: await deps.passwordHash.hash(password) })
    return verdict !== 'wrong'
  })
}

/** Checks the rule and hashes; to be called before the transaction that stores it, because it is slow. */
export function hashNewPassword(deps: Deps, of: { password: string; email: string | null }): Promise<string> {
  const why = whyWeakPassword(of.password, of.email)
  if (why !== undefined) throw refuse('weak_password', why)
  return unlessBusy(() => deps.passwordHash.hash(of.password))
}

export function storePassword(tx: Ctx, of: { userId: string; hash: string }): Promise<void> {
  return putPassword(tx.db, { ...of, now: new Date(tx.clock.now()) })
}

async function unlessBusy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PasswordsBusy)
      throw refuse('overloaded', 'Too many people are signing in just now. Try again in a moment.')
    throw error
  }
}
