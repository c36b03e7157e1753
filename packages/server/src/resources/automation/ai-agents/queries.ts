import type { AgentTool } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { AiProviderRow } from '../ai-providers/index.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type AiAgentRow = {
  readonly id: string
  readonly name: string
  readonly provider_id: string
  readonly model: string | null
  readonly instructions: string
  readonly tools: readonly AgentTool[]
  readonly output_schema: Record<string, unknown> | null
  readonly max_steps: number
  readonly timeout_seconds: number
  readonly max_output_tokens: number
  readonly monthly_tokens: number | null
  readonly input_price: number | null
  readonly output_price: number | null
  readonly created_by: string | null
  readonly created_at: Date
  readonly updated_at: Date
  /** The tokens of the month in which the query runs. */
  readonly tokens_this_month: number
}

const columns = (now: Date): Sql => sql`
  a.id, a.name, a.provider_id, a.model, a.instructions, a.tools, a.output_schema, a.max_steps, a.timeout_seconds, a.max_output_tokens,
  a.monthly_tokens::float8 as monthly_tokens, a.input_price, a.output_price, a.created_by, a.created_at, a.updated_at,
  coalesce((select u.tokens
              from ai_agent_usage u
             where u.workspace_id = a.workspace_id
               and u.project_id = a.project_id
               and u.agent_id = a.id
               and u.month = date_trunc('month', ${now}::timestamptz at time zone 'utc')::date), 0)::float8 as tokens_this_month
`

export function listAgents(
  db: Db,
  at: At & { before: string | null; limit: number; now: Date },
): Promise<readonly AiAgentRow[]> {
  return db.many<AiAgentRow>(sql`
    select ${columns(at.now)}
      from ai_agents a
     where a.workspace_id = ${at.workspaceId}
       and a.project_id = ${at.projectId}
       and (${at.before}::uuid is null or a.id < ${at.before})
     order by a.id desc
     limit ${at.limit}
  `)
}

export function findAgent(db: Db, at: At & { id: string; now: Date }): Promise<AiAgentRow | undefined> {
  return db.maybe<AiAgentRow>(sql`
    select ${columns(at.now)}
      from ai_agents a
     where a.workspace_id = ${at.workspaceId}
       and a.project_id = ${at.projectId}
       and a.id = ${at.id}
  `)
}

/** The existing agents among these ids. */
export function listAgentNames(
  db: Db,
  at: At & { ids: readonly string[] | null },
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  return db.many<{ id: string; name: string }>(sql`
    select id, name
      from ai_agents
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       ${at.ids === null ? sql`` : sql`and id = any (${at.ids}::uuid[])`}
  `)
}

export type AgentForRun = AiAgentRow & {
  readonly provider: Pick<
    AiProviderRow,
    'id' | 'kind' | 'base_url' | 'api_key' | 'default_model' | 'structured_outputs'
  >
}

/** An agent with its provider, for a run. */
export async function findAgentForRun(db: Db, at: At & { id: string; now: Date }): Promise<AgentForRun | undefined> {
  const row = await db.maybe<
    AiAgentRow & Pick<AiProviderRow, 'kind' | 'base_url' | 'api_key' | 'default_model' | 'structured_outputs'>
  >(sql`
    select ${columns(at.now)}, p.kind, p.base_url, p.api_key, p.default_model, p.structured_outputs
      from ai_agents a
      join ai_providers p
        on p.workspace_id = a.workspace_id
       and p.project_id = a.project_id
       and p.id = a.provider_id
     where a.workspace_id = ${at.workspaceId}
       and a.project_id = ${at.projectId}
       and a.id = ${at.id}
  `)
  if (row === undefined) return undefined
  const { kind, base_url, api_key, default_model, structured_outputs, ...agent } = row
  return {
    ...agent,
    provider: { id: agent.provider_id, kind, base_url, api_key, default_model, structured_outputs },
  }
}

export async function countAgents(db: Db, at: At): Promise<number> {
  const { n } = await db.one<{ n: number }>(sql`
    select count(*)::int as n
      from ai_agents
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return n
}

type Written = Omit<AiAgentRow, 'created_at' | 'updated_at' | 'tokens_this_month'>

const schemaText = ({ output_schema: schema }: Pick<Written, 'output_schema'>): string | null =>
  schema === null ? null : JSON.stringify(schema)

/** Inserts an agent. Returns how many rows: 0 when the name is taken. */
export function insertAgent(db: Db, row: At & Written & { now: Date }): Promise<number> {
  return db.run(sql`
    insert into ai_agents (workspace_id, project_id, id, name, provider_id, model, instructions, tools, output_schema, max_steps,
                           timeout_seconds, max_output_tokens, monthly_tokens, input_price, output_price, created_by, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.provider_id}, ${row.model}, ${row.instructions},
            ${row.tools}::text[], ${schemaText(row)}, ${row.max_steps}, ${row.timeout_seconds}, ${row.max_output_tokens}, ${row.monthly_tokens},
            ${row.input_price}, ${row.output_price}, ${row.created_by}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
  `)
}

/** Changes an agent. Returns how many rows: 0 when the name is taken. */
export function updateAgent(db: Db, row: At & Written & { now: Date }): Promise<number> {
  return db.run(sql`
    update ai_agents
       set name = ${row.name},
           provider_id = ${row.provider_id},
           model = ${row.model},
           instructions = ${row.instructions},
           tools = ${row.tools}::text[],
           output_schema = ${schemaText(row)},
           max_steps = ${row.max_steps},
           timeout_seconds = ${row.timeout_seconds},
           max_output_tokens = ${row.max_output_tokens},
           monthly_tokens = ${row.monthly_tokens},
           input_price = ${row.input_price},
           output_price = ${row.output_price},
           created_by = ${row.created_by},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from ai_agents other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
  `)
}

/** Deletes an agent that no trigger uses, with its counts. Returns how many. */
export async function deleteAgent(db: Db, at: At & { id: string }): Promise<number> {
  const deleted = await db.run(sql`
    delete from ai_agents
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and not exists (
             select 1
               from ai_triggers
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and agent_id = ${at.id}
           )
  `)
  if (deleted > 0)
    await db.run(sql`
      delete from ai_agent_usage
       where workspace_id = ${at.workspaceId}
         and project_id = ${at.projectId}
         and agent_id = ${at.id}
    `)
  return deleted
}
