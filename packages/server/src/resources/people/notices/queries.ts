import { sql, type Db } from '../../../platform/db.ts'

/** The addresses of the owners of a workspace, the longest-serving first. */
export function listOwners(db: Db, workspaceId: string): Promise<readonly { readonly email: string }[]> {
  return db.many<{ email: string }>(sql`
    select u.email
      from members m
      join users u on u.id = m.user_id
     where m.workspace_id = ${workspaceId}
       and m.role = 'owner'
       and u.email is not null
     order by m.created_at, m.user_id
  `)
}

/** The addresses of the owners and admins of a workspace, in order of their membership. People without an address are left out. */
export function listManagers(db: Db, workspaceId: string): Promise<readonly { readonly email: string }[]> {
  return db.many<{ email: string }>(sql`
    select u.email
      from members m
      join users u on u.id = m.user_id
     where m.workspace_id = ${workspaceId}
       and m.role in ('owner', 'admin')
       and u.email is not null
     order by m.created_at, m.user_id
  `)
}
