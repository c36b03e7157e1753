import { sql, type Db } from '../../../platform/db.ts'

type Identity = { readonly issuer: string; readonly subject: string }

export function findIdentity(db: Db, at: Identity): Promise<{ user_id: string } | undefined> {
  return db.maybe<{ user_id: string }>(sql`
    select user_id
      from identities
     where issuer = ${at.issuer}
       and subject = ${at.subject}
  `)
}

/** One of two concurrent sign-ins inserts the row, and both continue. Returns 0 for the other one. */
export function insertIdentity(db: Db, row: Identity & { userId: string; now: Date }): Promise<number> {
  return db.run(sql`
    insert into identities (issuer, subject, user_id, created_at)
    values (${row.issuer}, ${row.subject}, ${row.userId}, ${row.now})
    on conflict (issuer, subject) do nothing
  `)
}

export function listIdentities(db: Db, userId: string): Promise<readonly { issuer: string; created_at: Date }[]> {
  return db.many<{ issuer: string; created_at: Date }>(sql`
    select issuer, created_at
      from identities
     where user_id = ${userId}
     order by created_at
  `)
}
