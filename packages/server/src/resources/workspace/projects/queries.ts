import { sql, type Db } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type ProjectRow = {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly is_default: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

/** Why a workspace accepts and sends nothing, as it is answered. A suspension comes before: the operator decides about it. */
export type Halt = 'workspace_suspended' | 'workspace_closed'

/** What the road must know of a project and its workspace. */
export function findProjectPlan(
  db: Db,
  at: At,
): Promise<
  { slug: string; config_version: number; workspace_slug: string; plan: string; halted: Halt | null } | undefined
> {
  return db.maybe(sql`
    select p.slug, p.config_version, w.slug as workspace_slug, w.plan,
           case when w.suspended_at is not null then 'workspace_suspended'
                when w.closed_at is not null then 'workspace_closed'
           end as halted
      from projects p
      join workspaces w on w.id = p.workspace_id
     where p.workspace_id = ${at.workspaceId}
       and p.id = ${at.projectId}
       and p.deleted_at is null
  `)
}

/** Projects whose configuration changed lately, in all workspaces, deleted ones too: what nodes poll. */
export function changedProjects(db: Db, since: Date): Promise<readonly { id: string; config_version: number }[]> {
  // oxlint-disable-next-line house/tenant-statement -- a node polls every workspace
  return db.many(sql`
    select id, config_version
      from projects
     where config_changed_at >= ${since}
  `)
}

export async function bumpConfig(db: Db, at: At & { now: Date }): Promise<void> {
  await db.run(sql`
    update projects
       set config_version = config_version + 1,
           config_changed_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.projectId}
  `)
}

export function bumpConfigOfAll(db: Db, at: { workspaceId: string; now: Date }): Promise<readonly { id: string }[]> {
  return db.many<{ id: string }>(sql`
    update projects
       set config_version = config_version + 1,
           config_changed_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and deleted_at is null
    returning id
  `)
}

export function listProjects(
  db: Db,
  at: { workspaceId: string; before: string | null; limit: number },
): Promise<readonly ProjectRow[]> {
  return db.many<ProjectRow>(sql`
    select id, slug, name, is_default, created_at, updated_at
      from projects
     where workspace_id = ${at.workspaceId}
       and deleted_at is null
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export function findProject(db: Db, at: At): Promise<ProjectRow | undefined> {
  return db.maybe<ProjectRow>(sql`
    select id, slug, name, is_default, created_at, updated_at
      from projects
     where workspace_id = ${at.workspaceId}
       and id = ${at.projectId}
       and deleted_at is null
  `)
}

export function findDefaultProject(db: Db, workspaceId: string): Promise<ProjectRow | undefined> {
  return db.maybe<ProjectRow>(sql`
    select id, slug, name, is_default, created_at, updated_at
      from projects
     where workspace_id = ${workspaceId}
       and is_default
  `)
}

/** undefined when the slug is taken. */
export function insertProject(
  db: Db,
  row: { workspaceId: string; id: string; slug: string; name: string; isDefault: boolean; now: Date },
): Promise<ProjectRow | undefined> {
  return db.maybe<ProjectRow>(sql`
    insert into projects (workspace_id, id, slug, name, is_default, config_changed_at, created_at, updated_at)
    values (${row.workspaceId}, ${row.id}, ${row.slug}, ${row.name}, ${row.isDefault}, ${row.now}, ${row.now}, ${row.now})
    on conflict (workspace_id, slug) do nothing
    returning id, slug, name, is_default, created_at, updated_at
  `)
}

export function renameProject(db: Db, at: At & { name: string; now: Date }): Promise<ProjectRow | undefined> {
  return db.maybe<ProjectRow>(sql`
    update projects
       set name = ${at.name},
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.projectId}
       and deleted_at is null
    returning id, slug, name, is_default, created_at, updated_at
  `)
}

/** The row stays, so that nodes that poll learn of it; its slug is free again. */
export function deleteProject(db: Db, at: At & { now: Date }): Promise<number> {
  return db.run(sql`
    update projects
       set deleted_at = ${at.now},
           slug = id::text,
           config_version = config_version + 1,
           config_changed_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.projectId}
       and not is_default
       and deleted_at is null
  `)
}

/** Every project of the workspace that was not deleted. */
export async function listProjectIds(db: Db, workspaceId: string): Promise<readonly string[]> {
  const rows = await db.many<{ id: string }>(sql`
    select id
      from projects
     where workspace_id = ${workspaceId}
       and deleted_at is null
     order by id
  `)
  return rows.map(({ id }) => id)
}
