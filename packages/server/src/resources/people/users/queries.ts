import type { Role } from '@postroad/contract'
import { sql, type Db } from '../../../platform/db.ts'

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

/** Like `findUserByEmail`, but locks the row, so that the person retains this address until the transaction ends. */
export function lockUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return db.maybe<UserRow>(sql`
    select id, name, email
      from users
     where lower(email) = lower(${email})
       for share
  `)
}

/** Call it only with an address that its owner has just proven. Of two concurrent calls, one inserts the address. */
export async function insertUser(db: Db, row: { id: string; name: string; email: string; now: Date }): Promise<void> {
  await db.run(sql`
    insert into users (id, name, email, created_at)
    values (${row.id}, ${row.name}, ${row.email}, ${row.now})
  `)
}

/** Call it only with an address that its owner has just proven. */
export async function setEmail(db: Db, at: { userId: string; email: string }): Promise<void> {
  await db.run(sql`
    update users
       set email = ${at.email}
     where id = ${at.userId}
  `)
}

/** A member with their current role; undefined after their removal. */
export function findMember(
  db: Db,
  at: { workspaceId: string; userId: string },
): Promise<{ id: string; name: string; email: string | null; role: Role } | undefined> {
  return db.maybe(sql`
    select u.id, u.name, u.email, m.role
      from members m
      join users u on u.id = m.user_id
     where m.workspace_id = ${at.workspaceId}
       and m.user_id = ${at.userId}
  `)
}
