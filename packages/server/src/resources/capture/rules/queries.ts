import type { Conditions, Mappings } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type RuleRow = {
  readonly id: string
  readonly name: string
  readonly dataset: string
  readonly enabled: boolean
  readonly conditions: Conditions
  readonly mappings: Mappings
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`id, name, dataset, enabled, conditions, mappings, created_at, updated_at`

/** The enabled rules of a project in order of creation, for the ingest path. */
export function listRulePlans(db: Db, at: At): Promise<readonly RuleRow[]> {
  return db.many<RuleRow>(sql`
    select ${columns}
      from rules
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and enabled
     order by id
  `)
}

export function listRules(db: Db, at: At & { before: string | null; limit: number }): Promise<readonly RuleRow[]> {
  return db.many<RuleRow>(sql`
    select ${columns}
      from rules
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

/** `lock` locks the row against other changes until the transaction ends. */
export function findRule(db: Db, at: At & { id: string; lock?: boolean }): Promise<RuleRow | undefined> {
  return db.maybe<RuleRow>(sql`
    select ${columns}
      from rules
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

type Written = Omit<RuleRow, 'created_at' | 'updated_at'>

/** Inserts a rule; undefined when the name is taken. */
export function insertRule(db: Db, row: At & Written & { now: Date }): Promise<RuleRow | undefined> {
  return db.maybe<RuleRow>(sql`
    insert into rules (workspace_id, project_id, id, name, dataset, enabled, conditions, mappings, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.dataset}, ${row.enabled},
            ${JSON.stringify(row.conditions)}, ${JSON.stringify(row.mappings)}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
    returning ${columns}
  `)
}

export function updateRule(db: Db, row: At & Written & { now: Date }): Promise<RuleRow | undefined> {
  return db.maybe<RuleRow>(sql`
    update rules
       set name = ${row.name},
           dataset = ${row.dataset},
           enabled = ${row.enabled},
           conditions = ${JSON.stringify(row.conditions)},
           mappings = ${JSON.stringify(row.mappings)},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from rules other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
    returning ${columns}
  `)
}

export function deleteRule(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from rules
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}
