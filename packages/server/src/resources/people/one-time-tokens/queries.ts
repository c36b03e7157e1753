import { sql, type Db } from '../../../platform/db.ts'

export type Purpose = 'sign_in' | 'reset_password' | 'confirm_email' | 'passkey_sign_in' | 'passkey_registration'

export type TokenRow = {
  readonly user_id: string | null
  readonly workspace_id: string | null
  readonly email: string | null
}

export async function insertToken(
  db: Db,
  row: {
    hash: Uint8Array
    purpose: Purpose
    userId: string | null
    workspaceId: string | null
    email: string | null
    expiresAt: Date
  },
): Promise<void> {
  await db.run(sql`
    insert into one_time_tokens (hash, purpose, user_id, workspace_id, email, expires_at)
    values (${row.hash}, ${row.purpose}, ${row.userId}, ${row.workspaceId}, ${row.email}, ${row.expiresAt})
  `)
}

type At = { readonly hash: Uint8Array; readonly purpose: Purpose; readonly now: Date }

/** Uses a token up; undefined when it is unknown, for another purpose, used or expired. Of two concurrent uses, one succeeds. */
export function spendToken(db: Db, at: At): Promise<TokenRow | undefined> {
  return db.maybe<TokenRow>(sql`
    update one_time_tokens
       set used_at = ${at.now}
     where hash = ${at.hash}
       and purpose = ${at.purpose}
       and used_at is null
       and expires_at > ${at.now}
    returning user_id, workspace_id, email
  `)
}

/** A token that `spendToken` would accept now. */
export function findToken(db: Db, at: At): Promise<TokenRow | undefined> {
  return db.maybe<TokenRow>(sql`
    select user_id, workspace_id, email
      from one_time_tokens
     where hash = ${at.hash}
       and purpose = ${at.purpose}
       and used_at is null
       and expires_at > ${at.now}
  `)
}

/** Ends the links that were emailed to a person, so that none of them signs in after a change of password. */
export async function endTokensOf(db: Db, at: { userId: string; now: Date }): Promise<void> {
  await db.run(sql`
    update one_time_tokens
       set used_at = ${at.now}
     where user_id = ${at.userId}
       and used_at is null
  `)
}

/** Ends the links that were printed for the owner of a workspace. Emailed links name no workspace. */
export async function endOwnerLinks(db: Db, at: { workspaceId: string; now: Date }): Promise<void> {
  await db.run(sql`
    update one_time_tokens
       set used_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and purpose = 'sign_in'
       and used_at is null
  `)
}

/** Ends the links that would create an account with this address. */
export async function endLinksTo(db: Db, at: { email: string; now: Date }): Promise<void> {
  await db.run(sql`
    update one_time_tokens
       set used_at = ${at.now}
     where lower(email) = lower(${at.email})
       and user_id is null
       and purpose = 'sign_in'
       and used_at is null
  `)
}

export function deleteTokensOver(db: Db, before: Date): Promise<number> {
  return db.run(sql`
    delete from one_time_tokens
     where expires_at < ${before}
  `)
}
