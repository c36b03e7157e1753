import type { Role } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type InviteRow = {
  readonly workspace_id: string
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly invited_by: string
  readonly inviter_name: string
  readonly created_at: Date
  readonly expires_at: Date
}

type At = { readonly workspaceId: string; readonly id: string }

const selected: Sql = sql`
    select i.workspace_id, i.id, i.email, i.role, i.invited_by, u.name as inviter_name, i.created_at, i.expires_at
      from invites i
      join users u on u.id = i.invited_by
`

export function listInvites(
  db: Db,
  at: { workspaceId: string; before: string | null; limit: number },
): Promise<readonly InviteRow[]> {
  return db.many<InviteRow>(sql`
    ${selected}
     where i.workspace_id = ${at.workspaceId}
       and (${at.before}::uuid is null or i.id < ${at.before})
     order by i.id desc
     limit ${at.limit}
  `)
}

export function findInvite(db: Db, at: At): Promise<InviteRow | undefined> {
  return db.maybe<InviteRow>(sql`
    ${selected}
     where i.workspace_id = ${at.workspaceId}
       and i.id = ${at.id}
  `)
}

/** Finds an invite by the hash of its token, without a workspace, because the person is not in it yet. Locks it until the transaction ends. */
export function lockByToken(db: Db, hash: Uint8Array): Promise<InviteRow | undefined> {
  return db.maybe<InviteRow>(sql`
    ${selected}
     where i.token_hash = ${hash}
       for update of i
  `)
}

export async function countInvites(db: Db, workspaceId: string): Promise<number> {
  const { found } = await db.one<{ found: number }>(sql`
    select count(*)::int as found
      from invites
     where workspace_id = ${workspaceId}
  `)
  return found
}

/** Invites to other addresses that can still be accepted. */
export async function countPendingInvites(
  db: Db,
  at: { workspaceId: string; email: string; now: Date },
): Promise<number> {
  const { found } = await db.one<{ found: number }>(sql`
    select count(*)::int as found
      from invites
     where workspace_id = ${at.workspaceId}
       and lower(email) <> lower(${at.email})
       and expires_at > ${at.now}
  `)
  return found
}

/** Inserts an invite; 0 when the address is already invited. */
export function insertInvite(
  db: Db,
  row: At & { email: string; role: Role; invitedBy: string; tokenHash: Uint8Array; now: Date; expiresAt: Date },
): Promise<number> {
  return db.run(sql`
    insert into invites (workspace_id, id, email, role, invited_by, token_hash, created_at, expires_at)
    values (${row.workspaceId}, ${row.id}, ${row.email}, ${row.role}, ${row.invitedBy}, ${row.tokenHash}, ${row.now}, ${row.expiresAt})
    on conflict (workspace_id, lower(email)) do nothing
  `)
}

/** Replaces the token. The previous one no longer works. */
export function renewInvite(db: Db, at: At & { tokenHash: Uint8Array; expiresAt: Date }): Promise<number> {
  return db.run(sql`
    update invites
       set token_hash = ${at.tokenHash},
           expires_at = ${at.expiresAt}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
  `)
}

export function deleteInvite(db: Db, at: At): Promise<number> {
  return db.run(sql`
    delete from invites
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
  `)
}

/** Whether this address has an invite in any workspace. */
export async function isInvited(db: Db, at: { email: string; now: Date }): Promise<boolean> {
  // oxlint-disable-next-line house/tenant-statement -- an address may be invited anywhere
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (
             select 1
               from invites
              where lower(email) = lower(${at.email})
                and expires_at > ${at.now}
           ) as found
  `)
  return found
}

/** Deletes the invites of all workspaces that ended before this time. Returns how many. */
export function deleteEndedInvites(db: Db, before: Date): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- upkeep prunes every workspace
  return db.run(sql`
    delete from invites
     where expires_at < ${before}
  `)
}

/** Whether a member of the workspace has this address. */
export async function isMemberByEmail(db: Db, at: { workspaceId: string; email: string }): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (
             select 1
               from members m
               join users u on u.id = m.user_id
              where m.workspace_id = ${at.workspaceId}
                and lower(u.email) = lower(${at.email})
           ) as found
  `)
  return found
}
