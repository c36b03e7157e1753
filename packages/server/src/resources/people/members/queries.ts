import type { Role } from '@postroad/contract'
import { sql, type Db } from '../../../platform/db.ts'

export type MemberRow = {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly role: Role
  readonly joined_at: Date
}

type At = { readonly workspaceId: string; readonly userId: string }

/** In order of the id of the person, newest account first. */
export function listMembers(
  db: Db,
  at: { workspaceId: string; before: string | null; limit: number },
): Promise<readonly MemberRow[]> {
  return db.many<MemberRow>(sql`
    select u.id, u.name, u.email, m.role, m.created_at as joined_at
      from members m
      join users u on u.id = m.user_id
     where m.workspace_id = ${at.workspaceId}
       and (${at.before}::uuid is null or m.user_id < ${at.before})
     order by m.user_id desc
     limit ${at.limit}
  `)
}

export function findMemberRow(db: Db, at: At): Promise<MemberRow | undefined> {
  return db.maybe<MemberRow>(sql`
    select u.id, u.name, u.email, m.role, m.created_at as joined_at
      from members m
      join users u on u.id = m.user_id
     where m.workspace_id = ${at.workspaceId}
       and m.user_id = ${at.userId}
  `)
}

export async function countOwners(db: Db, workspaceId: string): Promise<number> {
  const { found } = await db.one<{ found: number }>(sql`
    select count(*)::int as found
      from members
     where workspace_id = ${workspaceId}
       and role = 'owner'
  `)
  return found
}

export async function setRole(db: Db, at: At & { from: Role; to: Role }): Promise<void> {
  await db.run(sql`
    update members
       set role = ${at.to}
     where workspace_id = ${at.workspaceId}
       and user_id = ${at.userId}
       and role = ${at.from}
  `)
}

export async function deleteMember(db: Db, at: At): Promise<void> {
  await db.run(sql`
    delete from members
     where workspace_id = ${at.workspaceId}
       and user_id = ${at.userId}
  `)
}
