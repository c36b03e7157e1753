import { sql, type Db } from '../../../platform/db.ts'

export function findPassword(db: Db, userId: string): Promise<{ hash: string } | undefined> {
  return db.maybe<{ hash: string }>(sql`
    select hash
      from passwords
     where user_id = ${userId}
  `)
}

export async function putPassword(db: Db, row: { userId: string; hash: string; now: Date }): Promise<void> {
  await db.run(sql`
    insert into passwords (user_id, hash, changed_at)
    values (${row.userId}, ${row.hash}, ${row.now})
    on conflict (user_id) do update
       set hash = excluded.hash,
           changed_at = excluded.changed_at
  `)
}

/** Stores the same password under other parameters, unless it was changed in the meantime. */
export async function replaceHash(db: Db, at: { userId: string; from: string; to: string }): Promise<void> {
  await db.run(sql`
    update passwords
       set hash = ${at.to}
     where user_id = ${at.userId}
       and hash = ${at.from}
  `)
}
