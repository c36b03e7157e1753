import type { Condition, Step } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type WorkflowPlanRow = {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly entry_dataset: string
  readonly entry_conditions: Condition[]
}

/** The workflows that records of the project start, oldest first. */
export function listWorkflowPlans(db: Db, at: At): Promise<readonly WorkflowPlanRow[]> {
  return db.many<WorkflowPlanRow>(sql`
    select id, name, version, entry_dataset, entry_conditions
      from workflows
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and active
     order by id
  `)
}

export type WorkflowRow = WorkflowPlanRow & {
  readonly slug: string
  readonly active: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

/** The parts of a definition that a version retains. */
export type StoredDefinition = {
  readonly name: string
  readonly entry_dataset: string
  readonly entry_conditions: Condition[]
  readonly steps: Step[]
}

const columns: Sql = sql`id, name, slug, active, version, entry_dataset, entry_conditions, created_at, updated_at`

export function listWorkflows(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly WorkflowRow[]> {
  return db.many<WorkflowRow>(sql`
    select ${columns}
      from workflows
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       ${at.before === null ? sql`` : sql`and id < ${at.before}`}
     order by id desc
     limit ${at.limit}
  `)
}

/** The workflows of a project with the steps of their newest versions, oldest first. */
export async function listWholeWorkflows(
  db: Db,
  at: At & { readonly after: string | null; readonly limit: number },
): Promise<readonly (WorkflowRow & { readonly steps: Step[] })[]> {
  const rows = await db.many<WorkflowRow & { readonly definition: StoredDefinition }>(sql`
    select w.id, w.name, w.slug, w.active, w.version, w.entry_dataset, w.entry_conditions, w.created_at, w.updated_at,
           v.definition
      from workflows w
      join workflow_versions v
        on v.workspace_id = w.workspace_id
       and v.project_id = w.project_id
       and v.workflow_id = w.id
       and v.version = w.version
     where w.workspace_id = ${at.workspaceId}
       and w.project_id = ${at.projectId}
       and (${at.after}::uuid is null or w.id > ${at.after})
     order by w.id
     limit ${at.limit}
  `)
  return rows.map(({ definition, ...row }) => ({ ...row, steps: definition.steps }))
}

export function findWorkflow(db: Db, at: At & { id: string }): Promise<WorkflowRow | undefined> {
  return db.maybe<WorkflowRow>(sql`
    select ${columns}
      from workflows
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** The newest version of a workflow, locked against replacement and deletion until the transaction ends. */
export function lockWorkflow(db: Db, at: At & { id: string }): Promise<{ readonly version: number } | undefined> {
  return db.maybe<{ version: number }>(sql`
    select version
      from workflows
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       for share
  `)
}

export async function countWorkflows(db: Db, at: At): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*)::int as count
      from workflows
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return count
}

type Written = Pick<WorkflowRow, 'id' | 'name' | 'slug' | 'active' | 'entry_dataset' | 'entry_conditions'>

/** Inserts a workflow at version 1; undefined when the slug is taken. */
export function insertWorkflow(db: Db, row: At & Written & { now: Date }): Promise<WorkflowRow | undefined> {
  return db.maybe<WorkflowRow>(sql`
    insert into workflows (workspace_id, project_id, id, name, slug, active, version, entry_dataset, entry_conditions, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.slug}, ${row.active}, 1, ${row.entry_dataset},
            ${JSON.stringify(row.entry_conditions)}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, slug) do nothing
    returning ${columns}
  `)
}

/** Replaces every member and increments the version; undefined when the slug is taken. */
export function replaceWorkflow(db: Db, row: At & Written & { now: Date }): Promise<WorkflowRow | undefined> {
  return db.maybe<WorkflowRow>(sql`
    update workflows
       set name = ${row.name},
           slug = ${row.slug},
           active = ${row.active},
           version = version + 1,
           entry_dataset = ${row.entry_dataset},
           entry_conditions = ${JSON.stringify(row.entry_conditions)},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from workflows other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.slug = ${row.slug}
                and other.id <> ${row.id}
           )
    returning ${columns}
  `)
}

export function deleteWorkflow(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from workflows
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

export type VersionRow = { readonly version: number; readonly created_at: Date; readonly definition: StoredDefinition }
type OfWorkflow = At & { readonly id: string }

export async function insertWorkflowVersion(
  db: Db,
  row: OfWorkflow & { version: number; definition: StoredDefinition; now: Date },
): Promise<void> {
  await db.run(sql`
    insert into workflow_versions (workspace_id, project_id, workflow_id, version, definition, created_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.version}, ${JSON.stringify(row.definition)}, ${row.now})
  `)
}

/** Deletes a batch of versions replaced before this time that no instance runs. Ingest may use one a second longer. */
export function deleteUnusedVersions(db: Db, at: { before: Date; limit: number }): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- the versions of all workspaces, each by its key
  return db.run(sql`
    delete from workflow_versions
     where (workspace_id, project_id, workflow_id, version) in (
             select v.workspace_id, v.project_id, v.workflow_id, v.version
               from workflow_versions v
              where v.created_at < ${at.before}
                and not exists (
                      select 1
                        from workflows w
                       where w.workspace_id = v.workspace_id
                         and w.project_id = v.project_id
                         and w.id = v.workflow_id
                         and (w.version = v.version or w.updated_at >= ${at.before})
                    )
                and not exists (
                      select 1
                        from workflow_instances i
                       where i.workspace_id = v.workspace_id
                         and i.project_id = v.project_id
                         and i.workflow_id = v.workflow_id
                         and i.version = v.version
                    )
              limit ${at.limit}
           )
  `)
}

export function listWorkflowVersions(
  db: Db,
  at: OfWorkflow & { before: number | null; limit: number },
): Promise<readonly Omit<VersionRow, 'definition'>[]> {
  return db.many<VersionRow>(sql`
    select version, created_at
      from workflow_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and workflow_id = ${at.id}
       ${at.before === null ? sql`` : sql`and version < ${at.before}`}
     order by version desc
     limit ${at.limit}
  `)
}

export function findWorkflowVersion(db: Db, at: OfWorkflow & { version: number }): Promise<VersionRow | undefined> {
  return db.maybe<VersionRow>(sql`
    select version, created_at, definition
      from workflow_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and workflow_id = ${at.id}
       and version = ${at.version}
  `)
}
