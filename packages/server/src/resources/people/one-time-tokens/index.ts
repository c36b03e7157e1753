import type { Ctx } from '../../../context.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import type { Db } from '../../../platform/db.ts'
import { mintSecret } from '../../mint.ts'
import {
  endLinksTo,
  endOwnerLinks,
  endTokensOf,
  findToken,
  insertToken,
  spendToken,
  type Purpose,
  type TokenRow,
} from './queries.ts'

export { endLinksTo, endOwnerLinks, endTokensOf }

type Minting = {
  readonly purpose: Purpose
  /** Null when the named account does not exist; such a token cannot be used. */
  readonly userId: string | null
  readonly workspaceId?: string
  readonly email?: string
  readonly lifeMs: number
  /** A token from elsewhere, such as the challenge of a passkey. */
  readonly token?: string
}

/** Creates a token that can be used once. Its text is stored nowhere. */
export async function mintToken(tx: Pick<Ctx, 'db' | 'clock' | 'randomText'>, of: Minting): Promise<string> {
  const token = of.token ?? mintSecret(tx)
  const { purpose, userId, workspaceId = null, email = null } = of
  await insertToken(tx.db, {
    hash: hashCredential(token),
    purpose,
    userId,
    workspaceId,
    email,
    expiresAt: new Date(tx.clock.now() + of.lifeMs),
  })
  return token
}

type Spending = { readonly purpose: Purpose; readonly token: string; readonly now: number }

export function useToken(db: Db, { purpose, token, now }: Spending): Promise<TokenRow | undefined> {
  return spendToken(db, { hash: hashCredential(token), purpose, now: new Date(now) })
}

/** Looks a token up without using it. A later `now` checks whether it will still be valid then. */
export function lookUpToken(db: Db, { purpose, token, now }: Spending): Promise<TokenRow | undefined> {
  return findToken(db, { hash: hashCredential(token), purpose, now: new Date(now) })
}
