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

/** The reason in responses why a workspace accepts and sends nothing. A suspension comes first, because only the operator can lift it. */
export type Inactive = 'workspace_suspended' | 'workspace_closed'

/** The data of a project and its workspace that the ingest path needs. */
export function findProjectPlan(
  db: Db,
  at: At,
): Promise<
  { slug: string; config_version: number; workspace_slug: string; plan: string; inactive: Inactive | null } | undefined
> {
  return db.maybe(sql`
    select p.slug, p.config_version, w.slug as workspace_slug, w.plan,
           case when w.suspended_at is not null then 'workspace_suspended'
                when w.closed_at is not null then 'workspace_closed'
           end as inactive
      from projects p
      join workspaces w on w.id = p.workspace_id
     where p.workspace_id = ${at.workspaceId}
       and p.id = ${at.projectId}
       and p.deleted_at is null
  `)
}

/** Projects of all workspaces whose configuration changed recently, including deleted ones. Nodes poll this. */
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

/** No other change of the project's configuration commits before this transaction ends. */
export async function lockProject(db: Db, at: At): Promise<void> {
  await db.run(sql`
    select id
      from projects
     where workspace_id = ${at.workspaceId}
       and id = ${at.projectId}
       for no key update
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

/** Inserts a project; undefined when the slug is taken. */
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

/** The row stays, so that nodes that poll notice the deletion. Its slug is free again. */
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

/** Every project of the workspace, without deleted ones. */
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
