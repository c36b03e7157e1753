import type { Condition } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type AiTriggerRow = {
  readonly id: string
  readonly name: string
  readonly dataset: string
  readonly conditions: Condition[]
  readonly agent_id: string
  readonly active: boolean
  readonly max_per_minute: number
  readonly output_dataset: string | null
  readonly created_by: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`
  id, name, dataset, conditions, agent_id, active, max_per_minute, output_dataset, created_by, created_at, updated_at
`

/** The active triggers of a project in order of creation, for the ingest path. */
export function listTriggerPlans(db: Db, at: At): Promise<readonly AiTriggerRow[]> {
  return db.many<AiTriggerRow>(sql`
    select ${columns}
      from ai_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and active
     order by id
  `)
}

export function listTriggers(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly AiTriggerRow[]> {
  return db.many<AiTriggerRow>(sql`
    select ${columns}
      from ai_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export function findTrigger(db: Db, at: At & { id: string }): Promise<AiTriggerRow | undefined> {
  return db.maybe<AiTriggerRow>(sql`
    select ${columns}
      from ai_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

export async function countTriggers(db: Db, at: At): Promise<number> {
  const { n } = await db.one<{ n: number }>(sql`
    select count(*)::int as n
      from ai_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return n
}

type Written = Omit<AiTriggerRow, 'created_at' | 'updated_at'>

/** Inserts a trigger; undefined when the name is taken. */
export function insertTrigger(db: Db, row: At & Written & { now: Date }): Promise<AiTriggerRow | undefined> {
  return db.maybe<AiTriggerRow>(sql`
    insert into ai_triggers (workspace_id, project_id, id, name, dataset, conditions, agent_id, active, max_per_minute, output_dataset,
                             created_by, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.dataset}, ${JSON.stringify(row.conditions)}, ${row.agent_id},
            ${row.active}, ${row.max_per_minute}, ${row.output_dataset}, ${row.created_by}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
    returning ${columns}
  `)
}

/** Changes a trigger; undefined when the name is taken. */
export function updateTrigger(db: Db, row: At & Written & { now: Date }): Promise<AiTriggerRow | undefined> {
  return db.maybe<AiTriggerRow>(sql`
    update ai_triggers
       set name = ${row.name},
           dataset = ${row.dataset},
           conditions = ${JSON.stringify(row.conditions)},
           agent_id = ${row.agent_id},
           active = ${row.active},
           max_per_minute = ${row.max_per_minute},
           output_dataset = ${row.output_dataset},
           created_by = ${row.created_by},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from ai_triggers other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
    returning ${columns}
  `)
}

export function deleteTrigger(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from ai_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}
