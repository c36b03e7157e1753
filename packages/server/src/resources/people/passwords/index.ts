import type { Ctx, Deps } from '../../../context.ts'
import { validatePassword } from '../../../domain/people/password-rule.ts'
import { refuse } from '../../../domain/refusal.ts'
import { PasswordsBusy } from '../../../platform/password-hash.ts'
import { findPassword, putPassword, replaceHash } from './queries.ts'

export async function hasPassword(deps: Deps, userId: string): Promise<boolean> {
  return (await findPassword(deps.database, userId)) !== undefined
}

/**
 * Whether this is the person's password. It takes as long for an unknown person, and for one without a password. A correct password whose
 * hash has previous parameters is hashed again.
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

/** Checks the rule and hashes the password. It is slow, so call it before the transaction that stores the hash. */
export function hashNewPassword(deps: Deps, of: { password: string; email: string | null }): Promise<string> {
  const why = validatePassword(of.password, of.email)
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
      throw refuse('overloaded', 'Too many people are signing in. Try again in a moment.')
    throw error
  }
}
