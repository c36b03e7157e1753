import type { PortalBranding } from '@postroad/contract'
import { sql, type Db } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/** The portal and the customer behind a token. */
export type AccessRow = {
  readonly token_id: string
  readonly expires_at: Date
  readonly last_used_at: Date | null
  readonly portal_id: string
  readonly portal_name: string
  readonly portal_slug: string
  readonly event_types: readonly string[] | null
  readonly branding: PortalBranding
  readonly enabled: boolean
  /** How often the portal was turned off. */
  readonly session_epoch: number
  readonly customer: string
  readonly customer_id: string
  readonly customer_name: string | null
  readonly is_suspended: boolean
  readonly is_closed: boolean
  /** The plan of the workspace, which pays for the work of its portals. */
  readonly plan: string
}

/** undefined: the token was revoked, or its customer, portal or project was deleted. */
export function findAccess(db: Db, at: At & { tokenId: string }): Promise<AccessRow | undefined> {
  return db.maybe<AccessRow>(sql`
    select t.id as token_id, t.expires_at, t.last_used_at, p.id as portal_id, p.name as portal_name, p.slug as portal_slug,
           p.event_types, p.branding, p.enabled, p.session_epoch, c.id as customer, c.customer_id, c.name as customer_name,
           w.suspended_at is not null as is_suspended, w.closed_at is not null as is_closed, w.plan
      from portal_tokens t
      join portal_customers c
        on c.workspace_id = t.workspace_id and c.project_id = t.project_id and c.id = t.portal_customer_id
      join portals p on p.workspace_id = c.workspace_id and p.project_id = c.project_id and p.id = c.portal_id
      join projects j on j.workspace_id = p.workspace_id and j.id = p.project_id and j.deleted_at is null
      join workspaces w on w.id = j.workspace_id
     where t.workspace_id = ${at.workspaceId}
       and t.project_id = ${at.projectId}
       and t.id = ${at.tokenId}
  `)
}

/** The datasets that a portal exposes, by name; `names` null: all of the project. */
export function listExposed(
  db: Db,
  at: At & { names: readonly string[] | null },
): Promise<readonly { readonly name: string; readonly description: string | null }[]> {
  return db.many<{ name: string; description: string | null }>(sql`
    select name, description
      from datasets
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.names}::text[] is null or name = any (${at.names}::text[]))
     order by name
  `)
}

/** The destinations of all customers of a project. */
export async function countOwnedDestinations(db: Db, at: At): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from destinations
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and portal_customer_id is not null
  `)
  return count
}
