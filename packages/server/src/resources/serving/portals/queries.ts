import type { PortalBranding, PORTAL_SERVES } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type PortalRow = {
  readonly id: string
  readonly name: string
  readonly slug: string
  /** null: every dataset of the project. */
  readonly event_types: readonly string[] | null
  readonly branding: PortalBranding
  readonly enabled: boolean
  readonly serves: (typeof PORTAL_SERVES)[number]
  readonly frame_origins: readonly string[]
  readonly customer_count: number
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`
  id, name, slug, event_types, branding, enabled, serves, frame_origins, created_at, updated_at,
  (select count(*)
     from portal_customers c
    where c.workspace_id = portals.workspace_id
      and c.project_id = portals.project_id
      and c.portal_id = portals.id) as customer_count
`

export function listPortals(
  db: Db,
  at: At & { slug: string | null; before: string | null; limit: number },
): Promise<readonly PortalRow[]> {
  return db.many<PortalRow>(sql`
    select ${columns}
      from portals
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.slug}::text is null or slug = ${at.slug})
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export async function countPortals(db: Db, at: At): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from portals
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return count
}

/** `lock` locks the row, and with it the customers and tokens of the portal, until the transaction ends. */
export async function findPortal(db: Db, at: At & { id: string; lock?: boolean }): Promise<PortalRow | undefined> {
  if (at.lock === true) await lockPortal(db, at)
  return db.maybe<PortalRow>(sql`
    select ${columns}
      from portals
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** A separate statement, so that the count of a later one includes the changes of the previous owner of the lock. */
async function lockPortal(db: Db, at: At & { id: string }): Promise<void> {
  await db.run(sql`
    select id
      from portals
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       for update
  `)
}

export type PublicPortalRow = Pick<PortalRow, 'id' | 'name' | 'branding' | 'enabled' | 'frame_origins'>

/** The portal behind an address, which names no workspace. */
export function findPublicPortal(db: Db, id: string): Promise<PublicPortalRow | undefined> {
  // oxlint-disable-next-line house/tenant-statement -- the address of the page has the id of the portal alone
  return db.maybe<PublicPortalRow>(sql`
    select p.id, p.name, p.branding, p.enabled, p.frame_origins
      from portals p
      join projects j on j.workspace_id = p.workspace_id and j.id = p.project_id and j.deleted_at is null
     where p.id = ${id}
  `)
}

type Settings = Pick<PortalRow, 'name' | 'slug' | 'event_types' | 'branding' | 'enabled' | 'serves' | 'frame_origins'>

/** Inserts a portal; undefined when the slug is taken. */
export function insertPortal(db: Db, row: At & Settings & { id: string; now: Date }): Promise<PortalRow | undefined> {
  return db.maybe<PortalRow>(sql`
    insert into portals (workspace_id, project_id, id, name, slug, event_types, branding, enabled, serves, frame_origins, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.slug}, ${row.event_types},
            ${JSON.stringify(row.branding)}, ${row.enabled}, ${row.serves}, ${row.frame_origins}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, slug) do nothing
    returning ${columns}
  `)
}

export async function isPortalSlugTaken(db: Db, at: At & { slug: string }): Promise<boolean> {
  const row = await db.maybe(sql`
    select 1 as taken
      from portals
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and slug = ${at.slug}
  `)
  return row !== undefined
}

export function updatePortal(db: Db, row: At & Settings & { id: string; now: Date }): Promise<PortalRow | undefined> {
  return db.maybe<PortalRow>(sql`
    update portals
       set name = ${row.name},
           slug = ${row.slug},
           event_types = ${row.event_types},
           branding = ${JSON.stringify(row.branding)},
           enabled = ${row.enabled},
           session_epoch = session_epoch + case when enabled and not ${row.enabled} then 1 else 0 end,
           serves = ${row.serves},
           frame_origins = ${row.frame_origins},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
    returning ${columns}
  `)
}

/** The destinations of the customers of a portal, up to `limit`. */
export function listOwnedDestinations(
  db: Db,
  at: At & { portalId: string; limit: number },
): Promise<readonly { readonly id: string }[]> {
  return db.many<{ id: string }>(sql`
    select d.id
      from portal_customers c
      join destinations d
        on d.workspace_id = c.workspace_id and d.project_id = c.project_id and d.portal_customer_id = c.id
     where c.workspace_id = ${at.workspaceId}
       and c.project_id = ${at.projectId}
       and c.portal_id = ${at.portalId}
     order by d.id
     limit ${at.limit}
  `)
}

/** Deletes the portal with its customers, tokens and the credentials of these. Its destinations must be gone. */
export async function deletePortal(db: Db, at: At & { id: string }): Promise<void> {
  await db.run(sql`
    delete from credentials
     where workspace_id = ${at.workspaceId}
       and subject_id in (select id
                            from portal_tokens
                           where workspace_id = ${at.workspaceId}
                             and project_id = ${at.projectId}
                             and portal_id = ${at.id})
  `)
  await db.run(sql`
    delete from portals
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}
