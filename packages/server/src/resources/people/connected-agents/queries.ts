import type { Role, Scope } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type AgentEnd = 'person' | 'client' | 'left_workspace' | 'token_reused'

export type AgentRow = {
  readonly id: string
  readonly user_id: string
  readonly client_id: string
  readonly name: string
  readonly host: string | null
  readonly redirect_host: string | null
  readonly scope: Scope
  readonly connected_at: Date
  readonly last_call_at: Date | null
  readonly last_call: string | null
  readonly last_refusal_at: Date | null
  readonly last_refusal: string | null
  readonly last_refusal_reason: string | null
  readonly last_refusal_scope: Scope | null
  readonly revoked_at: Date | null
  readonly revoked_by: AgentEnd | null
}

/** An agent with the person who connected it; `user_role` is null when that person is no longer a member. */
export type ListedAgentRow = AgentRow & {
  readonly user_name: string
  readonly user_email: string | null
  readonly user_role: Role | null
}

type At = { readonly workspaceId: string; readonly id: string }

const columns: Sql = sql`
  a.id, a.user_id, a.client_id, a.name, a.host, a.redirect_host, a.scope, a.connected_at, a.last_call_at, a.last_call,
  a.last_refusal_at, a.last_refusal, a.last_refusal_reason, a.last_refusal_scope, a.revoked_at, a.revoked_by
`
const listed: Sql = sql`
  select ${columns}, u.name as user_name, u.email as user_email, m.role as user_role
    from connected_agents a
    join users u on u.id = a.user_id
    left join members m on m.workspace_id = a.workspace_id and m.user_id = a.user_id
`

export function findAgent(db: Db, at: At): Promise<AgentRow | undefined> {
  return db.maybe<AgentRow>(sql`
    select ${columns}
      from connected_agents a
     where a.workspace_id = ${at.workspaceId}
       and a.id = ${at.id}
  `)
}

export function findListedAgent(db: Db, at: At & { userId: string | null }): Promise<ListedAgentRow | undefined> {
  return db.maybe<ListedAgentRow>(sql`
    ${listed}
     where a.workspace_id = ${at.workspaceId}
       and a.id = ${at.id}
       and (${at.userId}::uuid is null or a.user_id = ${at.userId})
  `)
}

/** Agents of one person, or of every member, newest first. */
export function listAgents(
  db: Db,
  at: { workspaceId: string; userId: string | null; before: string | null; limit: number },
): Promise<readonly ListedAgentRow[]> {
  return db.many<ListedAgentRow>(sql`
    ${listed}
     where a.workspace_id = ${at.workspaceId}
       and (${at.userId}::uuid is null or a.user_id = ${at.userId})
       and (${at.before}::uuid is null or a.id < ${at.before})
     order by a.id desc
     limit ${at.limit}
  `)
}

/** The active connections of a client to a person, by redirect, in all workspaces or in one. */
export function findConnections(
  db: Db,
  at: { userId: string; clientId: string },
): Promise<readonly { readonly workspace_id: string; readonly scope: Scope }[]> {
  return db.many<{ workspace_id: string; scope: Scope }>(sql`
    select workspace_id, scope
      from connected_agents
     where user_id = ${at.userId}
       and client_id = ${at.clientId}
       and revoked_at is null
       and redirect_host is not null
  `)
}

export async function hasAgents(db: Db, clientId: string): Promise<boolean> {
  // oxlint-disable-next-line house/tenant-statement -- in any workspace
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select from connected_agents where client_id = ${clientId} and revoked_at is null) as found
  `)
  return found
}

type Written = Pick<AgentRow, 'id' | 'user_id' | 'client_id' | 'name' | 'host' | 'redirect_host' | 'scope'>

/** Connects a client, or continues its connection with the new scope. Returns the id, and whether it was connected before. */
export async function upsertAgent(
  db: Db,
  row: Written & { workspaceId: string; now: Date },
): Promise<{ readonly id: string; readonly renewed: boolean }> {
  const { id } = await db.one<{ id: string }>(sql`
    insert into connected_agents (workspace_id, id, user_id, client_id, name, host, redirect_host, scope, connected_at)
    values (${row.workspaceId}, ${row.id}, ${row.user_id}, ${row.client_id}, ${row.name}, ${row.host}, ${row.redirect_host},
            ${row.scope}, ${row.now})
    on conflict (workspace_id, user_id, client_id) where revoked_at is null and redirect_host is not null do update
       set name = excluded.name,
           host = excluded.host,
           redirect_host = excluded.redirect_host,
           scope = excluded.scope
    returning id
  `)
  return { id, renewed: id !== row.id }
}

/** 0 when the agent was revoked meanwhile. */
export function setScope(db: Db, at: At & { scope: Scope }): Promise<number> {
  return db.run(sql`
    update connected_agents
       set scope = ${at.scope}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and revoked_at is null
  `)
}

/** Revokes an agent; 0 when there is no such agent, or it is already revoked. */
export function revokeAgent(db: Db, at: At & { by: AgentEnd; now: Date }): Promise<number> {
  return db.run(sql`
    update connected_agents
       set revoked_at = ${at.now},
           revoked_by = ${at.by}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and revoked_at is null
  `)
}

/** The active agents of a person in a workspace, oldest first, locked until the transaction ends. */
export function lockAgentsOf(
  db: Db,
  at: { workspaceId: string; userId: string },
): Promise<readonly { readonly id: string }[]> {
  return db.many<{ id: string }>(sql`
    select id
      from connected_agents
     where workspace_id = ${at.workspaceId}
       and user_id = ${at.userId}
       and revoked_at is null
     order by id
       for update
  `)
}

/** Stores the call if the last stored one was at `since` or before. */
export function touchAgent(db: Db, at: At & { call: string; now: Date; since: Date }): Promise<number> {
  return db.run(sql`
    update connected_agents
       set last_call_at = ${at.now},
           last_call = ${at.call}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and (last_call_at is null or last_call_at <= ${at.since})
  `)
}

/** Stores the refusal if the last stored one was at `since` or before. */
export function setRefusal(
  db: Db,
  at: At & { call: string; reason: string; scope: Scope | null; now: Date; since: Date },
): Promise<number> {
  return db.run(sql`
    update connected_agents
       set last_refusal_at = ${at.now},
           last_refusal = ${at.call},
           last_refusal_reason = ${at.reason},
           last_refusal_scope = ${at.scope}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and (last_refusal_at is null or last_refusal_at <= ${at.since})
  `)
}

export function deleteRevokedAgents(db: Db, at: { before: Date; limit: number }): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- of every workspace
  return db.run(sql`
    delete from connected_agents
     where (workspace_id, id) in (select workspace_id, id
                                    from connected_agents
                                   where revoked_at < ${at.before}
                                   limit ${at.limit})
  `)
}
