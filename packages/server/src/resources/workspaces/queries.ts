import { sql, type Db, type Sql } from '../../platform/db.ts'

export type WorkspaceRow = {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly plan: string
  readonly suspended_at: Date | null
  readonly suspended_reason: string | null
}

const columns: Sql = sql`id, slug, name, plan, suspended_at, suspended_reason`

export function findWorkspace(db: Db, id: string): Promise<WorkspaceRow | undefined> {
  return db.maybe<WorkspaceRow>(sql`
    select ${columns}
      from workspaces
     where id = ${id}
  `)
}

/** The first workspace of the installation: the one that bootstrap made. */
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

/** Held against other changes until the transaction ends. */
export function lockWorkspace(db: Db, slug: string): Promise<WorkspaceRow | undefined> {
  return db.maybe<WorkspaceRow>(sql`
    select ${columns}
      from workspaces
     where slug = ${slug}
       for no key update
  `)
}

export function setSuspension(db: Db, row: { id: string; suspendedAt: Date | null; reason: string | null }): Promise<WorkspaceRow> {
  return db.one<WorkspaceRow>(sql`
    update workspaces
       set suspended_at = ${row.suspendedAt},
           suspended_reason = ${row.reason}
     where id = ${row.id}
    returning ${columns}
  `)
}

export function insertWorkspace(db: Db, row: { id: string; slug: string; name: string; now: Date }): Promise<WorkspaceRow> {
  return db.one<WorkspaceRow>(sql`
    insert into workspaces (id, slug, name, created_at)
    values (${row.id}, ${row.slug}, ${row.name}, ${row.now})
    returning ${columns}
  `)
}

export type OwnerRow = { readonly id: string; readonly name: string; readonly email: string | null }

export async function insertOwner(db: Db, row: { workspaceId: string; id: string; name: string; now: Date }): Promise<void> {
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

/** A member with the role held at this moment; undefined once removed. */
export function findMember(
  db: Db,
  at: { workspaceId: string; userId: string },
): Promise<{ id: string; name: string; email: string | null; role: 'viewer' | 'developer' | 'admin' | 'owner' } | undefined> {
  return db.maybe(sql`
    select u.id, u.name, u.email, m.role
      from members m
      join users u on u.id = m.user_id
     where m.workspace_id = ${at.workspaceId}
       and m.user_id = ${at.userId}
  `)
}
