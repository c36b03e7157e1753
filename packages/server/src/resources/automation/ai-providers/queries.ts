import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type AiProviderRow = {
  readonly id: string
  readonly name: string
  readonly kind: 'openai_compatible' | 'openai' | 'anthropic'
  readonly base_url: string
  /** Sealed. */
  readonly api_key: Buffer | null
  readonly default_model: string
  readonly structured_outputs: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`id, name, kind, base_url, api_key, default_model, structured_outputs, created_at, updated_at`

export function listProviders(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly AiProviderRow[]> {
  return db.many<AiProviderRow>(sql`
    select ${columns}
      from ai_providers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export function findProvider(db: Db, at: At & { id: string }): Promise<AiProviderRow | undefined> {
  return db.maybe<AiProviderRow>(sql`
    select ${columns}
      from ai_providers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

export async function countProviders(db: Db, at: At): Promise<number> {
  const { n } = await db.one<{ n: number }>(sql`
    select count(*)::int as n
      from ai_providers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return n
}

type Written = Omit<AiProviderRow, 'created_at' | 'updated_at'>

/** Inserts a provider; undefined when the name is taken. */
export function insertProvider(db: Db, row: At & Written & { now: Date }): Promise<AiProviderRow | undefined> {
  return db.maybe<AiProviderRow>(sql`
    insert into ai_providers (workspace_id, project_id, id, name, kind, base_url, api_key, default_model, structured_outputs, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.kind}, ${row.base_url}, ${row.api_key}, ${row.default_model},
            ${row.structured_outputs}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
    returning ${columns}
  `)
}

/** Changes a provider; undefined when the name is taken. */
export function updateProvider(db: Db, row: At & Written & { now: Date }): Promise<AiProviderRow | undefined> {
  return db.maybe<AiProviderRow>(sql`
    update ai_providers
       set name = ${row.name},
           base_url = ${row.base_url},
           api_key = ${row.api_key},
           default_model = ${row.default_model},
           structured_outputs = ${row.structured_outputs},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from ai_providers other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
    returning ${columns}
  `)
}

/** Deletes a provider that no agent uses. Returns how many. */
export function deleteProvider(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from ai_providers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and not exists (
             select 1
               from ai_agents
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and provider_id = ${at.id}
           )
  `)
}
