import type { Role } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type WorkspaceRow = {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly plan: string
  readonly suspended_at: Date | null
  readonly suspended_reason: string | null
  readonly closed_at: Date | null
  readonly created_at: Date
}

const columns: Sql = sql`id, slug, name, plan, suspended_at, suspended_reason, closed_at, created_at`

export function findWorkspace(db: Db, id: string): Promise<WorkspaceRow | undefined> {
  return db.maybe<WorkspaceRow>(sql`
    select ${columns}
      from workspaces
     where id = ${id}
  `)
}

/** The first workspace of the installation, which bootstrap created. */
export function findFirstWorkspace(db: Db): Promise<WorkspaceRow | undefined> {
  return db.maybe<WorkspaceRow>(sql`
    select ${columns}
      from workspaces
     order by id
     limit 1
  `)
}

export function listWorkspaces(db: Db): Promise<readonly WorkspaceRow[]> {
  return db.many<WorkspaceRow>(sql`
    select ${columns}
      from workspaces
     order by id
  `)
}

/** Locks a workspace against changes of its state and its members until the transaction ends. */
export function lockWorkspaceById(db: Db, id: string): Promise<WorkspaceRow | undefined> {
  return db.maybe<WorkspaceRow>(sql`
    select ${columns}
      from workspaces
     where id = ${id}
       for no key update
  `)
}

/** Like `lockWorkspaceById`, by the slug. */
export function lockWorkspace(db: Db, slug: string): Promise<WorkspaceRow | undefined> {
  return db.maybe<WorkspaceRow>(sql`
    select ${columns}
      from workspaces
     where slug = ${slug}
       for no key update
  `)
}

export function setSuspension(
  db: Db,
  row: { id: string; suspendedAt: Date | null; reason: string | null },
): Promise<WorkspaceRow> {
  return db.one<WorkspaceRow>(sql`
    update workspaces
       set suspended_at = ${row.suspendedAt},
           suspended_reason = ${row.reason}
     where id = ${row.id}
    returning ${columns}
  `)
}

export function setPlan(db: Db, row: { id: string; plan: string }): Promise<WorkspaceRow> {
  return db.one<WorkspaceRow>(sql`
    update workspaces
       set plan = ${row.plan}
     where id = ${row.id}
    returning ${columns}
  `)
}

/** Inserts a workspace; undefined when the slug is taken. */
export function insertWorkspace(
  db: Db,
  row: { id: string; slug: string; name: string; plan?: string; now: Date },
): Promise<WorkspaceRow | undefined> {
  return db.maybe<WorkspaceRow>(sql`
    insert into workspaces (id, slug, name, plan, created_at)
    values (${row.id}, ${row.slug}, ${row.name}, ${row.plan ?? 'self_hosted'}, ${row.now})
    on conflict (slug) do nothing
    returning ${columns}
  `)
}

export function renameWorkspace(db: Db, row: { id: string; name: string }): Promise<WorkspaceRow> {
  return db.one<WorkspaceRow>(sql`
    update workspaces
       set name = ${row.name}
     where id = ${row.id}
    returning ${columns}
  `)
}

export function setClosed(db: Db, row: { id: string; closedAt: Date | null }): Promise<WorkspaceRow> {
  return db.one<WorkspaceRow>(sql`
    update workspaces
       set closed_at = ${row.closedAt}
     where id = ${row.id}
    returning ${columns}
  `)
}

/** A workspace with the role that a person has in it. */
export type OwnWorkspaceRow = WorkspaceRow & { readonly role: Role }

export function listWorkspacesOf(
  db: Db,
  at: { userId: string; before: string | null; limit: number },
): Promise<readonly OwnWorkspaceRow[]> {
  return db.many<OwnWorkspaceRow>(sql`
    select w.id, w.slug, w.name, w.plan, w.suspended_at, w.suspended_reason, w.closed_at, w.created_at, m.role
      from members m
      join workspaces w on w.id = m.workspace_id
     where m.user_id = ${at.userId}
       and (${at.before}::uuid is null or w.id < ${at.before})
     order by w.id desc
     limit ${at.limit}
  `)
}

/** Lets one person create one workspace at a time, so that the count below is exact. The lock ends with the transaction. */
export async function lockOwner(db: Db, userId: string): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock(hashtextextended(${userId}, 4681))`)
}

export async function countOwned(db: Db, userId: string): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- a person's workspaces, in all of them
  const { found } = await db.one<{ found: number }>(sql`
    select count(*)::int as found
      from members
     where user_id = ${userId}
       and role = 'owner'
  `)
  return found
}

export async function countMembers(db: Db, workspaceId: string): Promise<number> {
  const { found } = await db.one<{ found: number }>(sql`
    select count(*)::int as found
      from members
     where workspace_id = ${workspaceId}
  `)
  return found
}

/** Inserts a member; 0 when the person is already in the workspace. */
export function insertMember(
  db: Db,
  row: { workspaceId: string; userId: string; role: Role; now: Date },
): Promise<number> {
  return db.run(sql`
    insert into members (workspace_id, user_id, role, created_at)
    values (${row.workspaceId}, ${row.userId}, ${row.role}, ${row.now})
    on conflict (workspace_id, user_id) do nothing
  `)
}

export type OwnerRow = { readonly id: string; readonly name: string; readonly email: string | null }

export async function insertOwner(
  db: Db,
  row: { workspaceId: string; id: string; name: string; now: Date },
): Promise<void> {
  await db.run(sql`
    insert into users (id, name, created_at)
    values (${row.id}, ${row.name}, ${row.now})
  `)
  await db.run(sql`
    insert into members (workspace_id, user_id, role, created_at)
    values (${row.workspaceId}, ${row.id}, 'owner', ${row.now})
  `)
}

export function findOwner(db: Db, workspaceId: string): Promise<OwnerRow | undefined> {
  return db.maybe<OwnerRow>(sql`
    select u.id, u.name, u.email
      from members m
      join users u on u.id = m.user_id
     where m.workspace_id = ${workspaceId}
       and m.role = 'owner'
     order by u.id
     limit 1
  `)
}
