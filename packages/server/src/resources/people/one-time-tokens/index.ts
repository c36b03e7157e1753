import type { Ctx } from '../../../context.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import type { Db } from '../../../platform/db.ts'
import { mintSecret } from '../../mint.ts'
import {
  endOwnerLinks,
  endTokensOf,
  findToken,
  insertToken,
  spendToken,
  type Purpose,
  type TokenRow,
} from './queries.ts'

export { endOwnerLinks, endTokensOf }

type Minting = {
  readonly purpose: Purpose
  /** Null when nobody has the account that was named: such a token is of no use. */
  readonly userId: string | null
  readonly workspaceId?: string
  readonly email?: string
  readonly lifeMs: number
  /** A token that was made elsewhere, such as the challenge of a passkey. */
  readonly token?: string
}

/** Makes a token that is good once; its text is stored nowhere. */
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

/** Looks without using it up. `now` may be later, to ask whether it will still be good then. */
export function lookUpToken(db: Db, { purpose, token, now }: Spending): Promise<TokenRow | undefined> {
  return findToken(db, { hash: hashCredential(token), purpose, now: new Date(now) })
}
