import { sql, type Db } from '../../platform/db.ts'

export type UserRow = { readonly id: string; readonly name: string; readonly email: string | null }

export function findUser(db: Db, id: string): Promise<UserRow | undefined> {
  return db.maybe<UserRow>(sql`
    select id, name, email
      from users
     where id = ${id}
  `)
}

/** Upper and lower case are the same address. */
export function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return db.maybe<UserRow>(sql`
    select id, name, email
      from users
     where lower(email) = lower(${email})
  `)
}

/** To be called with an address that its owner has just proven, and with none other. */
export async function setEmail(db: Db, at: { userId: string; email: string }): Promise<void> {
  await db.run(sql`
    update users
       set email = ${at.email}
     where id = ${at.userId}
  `)
}
