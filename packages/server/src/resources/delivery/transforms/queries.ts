import type { TransformLanguage } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type TransformUser = { readonly id: string; readonly name: string }

export type TransformRow = {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly language: TransformLanguage
  readonly code: string
  readonly used_by: readonly TransformUser[]
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`
  t.id, t.name, t.version, v.language, v.code, t.created_at, t.updated_at,
  coalesce((select json_agg(json_build_object('id', d.id, 'name', d.name) order by d.id)
              from destinations d
             where d.workspace_id = t.workspace_id
               and d.project_id = t.project_id
               and d.transform_id = t.id), '[]') as used_by
`
const joined: Sql = sql`
  transforms t
  join transform_versions v
    on v.workspace_id = t.workspace_id and v.project_id = t.project_id and v.transform_id = t.id and v.version = t.version
`

export function listTransforms(
  db: Db,
  at: At & { readonly before: string | null; readonly limit: number },
): Promise<readonly TransformRow[]> {
  return db.many<TransformRow>(sql`
    select ${columns}
      from ${joined}
     where t.workspace_id = ${at.workspaceId}
       and t.project_id = ${at.projectId}
       and (${at.before}::uuid is null or t.id < ${at.before})
     order by t.id desc
     limit ${at.limit}
  `)
}

export function findTransform(db: Db, at: At & { readonly id: string }): Promise<TransformRow | undefined> {
  return db.maybe<TransformRow>(sql`
    select ${columns}
      from ${joined}
     where t.workspace_id = ${at.workspaceId}
       and t.project_id = ${at.projectId}
       and t.id = ${at.id}
  `)
}

/** The transforms of a project with their code, oldest first. */
export function listWholeTransforms(
  db: Db,
  at: At & { readonly after: string | null; readonly limit: number },
): Promise<readonly TransformRow[]> {
  return db.many<TransformRow>(sql`
    select ${columns}
      from ${joined}
     where t.workspace_id = ${at.workspaceId}
       and t.project_id = ${at.projectId}
       and (${at.after}::uuid is null or t.id > ${at.after})
     order by t.id
     limit ${at.limit}
  `)
}

export function listTransformNames(db: Db, at: At): Promise<readonly TransformUser[]> {
  return db.many<TransformUser>(sql`
    select id, name
      from transforms
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
     order by id
  `)
}

/** Locks a transform until the transaction ends: against every change, or against its deletion. */
export async function lockTransform(
  db: Db,
  at: At & { readonly id: string; readonly against: 'changes' | 'deletion' },
): Promise<boolean> {
  const row = await db.maybe(sql`
    select id
      from transforms
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.against === 'changes' ? sql`for update` : sql`for key share`}
  `)
  return row !== undefined
}

export async function countTransforms(db: Db, at: At): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*)::int as count
      from transforms
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return count
}

/** Inserts a transform without its first version; false when the name is taken. */
export async function insertTransform(
  db: Db,
  row: At & { readonly id: string; readonly name: string; readonly now: Date },
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into transforms (workspace_id, project_id, id, name, version, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, 1, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
  `)
  return inserted > 0
}

/** Changes the name and the current version; false when the name is taken. */
export async function updateTransform(
  db: Db,
  row: At & { readonly id: string; readonly name: string; readonly version: number; readonly now: Date },
): Promise<boolean> {
  const updated = await db.run(sql`
    update transforms
       set name = ${row.name}, version = ${row.version}, updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from transforms other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
  `)
  return updated > 0
}

export type VersionRow = {
  readonly version: number
  readonly language: TransformLanguage
  readonly code: string
  readonly created_at: Date
}

export async function insertVersion(db: Db, row: At & { readonly id: string } & VersionRow): Promise<void> {
  await db.run(sql`
    insert into transform_versions (workspace_id, project_id, transform_id, version, language, code, created_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.version}, ${row.language}, ${row.code}, ${row.created_at})
  `)
}

/** Deletes the oldest versions beyond this number, but never the current one. */
export async function deleteOldVersions(
  db: Db,
  at: At & { readonly id: string; readonly retained: number },
): Promise<void> {
  await db.run(sql`
    delete from transform_versions v
     using transforms t
     where t.workspace_id = ${at.workspaceId}
       and t.project_id = ${at.projectId}
       and t.id = ${at.id}
       and v.workspace_id = t.workspace_id
       and v.project_id = t.project_id
       and v.transform_id = t.id
       and v.version <> t.version
       and v.version <= (
             select max(newest.version) - ${at.retained}::int
               from transform_versions newest
              where newest.workspace_id = ${at.workspaceId}
                and newest.project_id = ${at.projectId}
                and newest.transform_id = ${at.id}
           )
  `)
}

export async function newestVersion(db: Db, at: At & { readonly id: string }): Promise<number> {
  const { newest } = await db.one<{ newest: number }>(sql`
    select coalesce(max(version), 0) as newest
      from transform_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and transform_id = ${at.id}
  `)
  return newest
}

export function listVersions(
  db: Db,
  at: At & { readonly id: string; readonly before: number | null; readonly limit: number },
): Promise<readonly Omit<VersionRow, 'code'>[]> {
  return db.many<Omit<VersionRow, 'code'>>(sql`
    select version, language, created_at
      from transform_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and transform_id = ${at.id}
       and (${at.before}::int is null or version < ${at.before})
     order by version desc
     limit ${at.limit}
  `)
}

export function findVersion(
  db: Db,
  at: At & { readonly id: string; readonly version: number },
): Promise<VersionRow | undefined> {
  return db.maybe<VersionRow>(sql`
    select version, language, code, created_at
      from transform_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and transform_id = ${at.id}
       and version = ${at.version}
  `)
}

export async function deleteTransform(db: Db, at: At & { readonly id: string }): Promise<void> {
  await db.run(sql`
    delete from transform_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and transform_id = ${at.id}
  `)
  await db.run(sql`
    delete from transforms
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}
