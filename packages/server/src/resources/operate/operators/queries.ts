import { sql, type Db } from '../../../platform/db.ts'

/** The proven address of a person; undefined without a person, null without an address. */
export async function findAddress(db: Db, userId: string): Promise<string | null | undefined> {
  const found = await db.maybe<{ email: string | null }>(sql`
    select email
      from users
     where id = ${userId}
  `)
  return found?.email
}

/**
 * Whether this person owns a workspace, and no other person does. Workspaces that agents registered do not count for
 * either: anyone may have claimed one.
 */
export async function isOnlyOwner(db: Db, userId: string): Promise<boolean> {
  // oxlint-disable-next-line house/tenant-statement -- the owners of all workspaces
  const owners = sql`
    select from members m
     where m.role = 'owner'
       and not exists (select from agent_accounts a where a.workspace_id = m.workspace_id)
  `
  const { alone } = await db.one<{ alone: boolean }>(sql`
    select exists (${owners} and m.user_id = ${userId})
           and not exists (${owners} and m.user_id <> ${userId}) as alone
  `)
  return alone
}
