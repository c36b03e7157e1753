import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { Deleted, ListQuery, listOf, Timestamp } from '../../list.ts'
import { defineRoute, SCOPES } from '../../route.ts'

/** How a connection ended. */
export const AGENT_ENDS = ['person', 'client', 'left_workspace', 'token_reused'] as const

/** Only people manage agents, also in a suspended workspace. No scope lets an agent do it (contract parts 1 and 5). */
const MANAGE_AGENTS = {
  role: 'viewer',
  scope: 'service:manage',
  callers: 'people',
} as const

export const AgentScope = z
  .enum(SCOPES, 'The scope is service:read, service:write or service:manage.')
  .describe('The highest scope of the agent. A higher one includes the lower ones.')

export const ConnectedAgent = z.object({
  id: idOutput('connectedAgent'),
  name: z.string().describe('The name that the program gives itself.'),
  host: z
    .string()
    .nullable()
    .describe('The host that publishes the program, proven by its client id; null: the program registered itself.'),
  redirect_host: z
    .string()
    .nullable()
    .describe(
      'The host that the browser was redirected to after the consent; null: the agent was connected with a device code.',
    ),
  client_id: z.string(),
  scope: AgentScope,
  status: z.enum(['active', 'revoked']),
  connected_by: z.object({
    id: idOutput('user'),
    name: z.string(),
    email: z.string().nullable(),
    role: z.string().nullable().describe('The current role, which limits the agent too; null: no longer a member.'),
  }),
  yours: z.boolean().describe('The caller connected it.'),
  connected_at: Timestamp,
  last_call: z
    .object({ at: Timestamp, route: z.string().describe('The operation, such as destinations.list.') })
    .nullable()
    .describe('Updated at most once a minute.'),
  last_refusal: z
    .object({
      at: Timestamp,
      route: z.string(),
      reason: z.string(),
      required_scope: z.enum(SCOPES).nullable().describe('The scope that would have been enough.'),
    })
    .nullable()
    .describe('The last call that was refused because of the scope, the role, or what agents may never do.'),
  revoked_at: Timestamp.nullable(),
  revoked_by: z
    .enum(AGENT_ENDS)
    .nullable()
    .describe(
      '`person`: someone revoked it; `client`: the program signed out; `left_workspace`: the person left the workspace; `token_reused`: a refresh token was used twice, so it may have been stolen.',
    ),
})

export const connectedAgents = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'agents',
    summary: 'List connected agents',
    description:
      'The agents that you connected to the workspace, newest first. Admins see those of every member. Revoked ones are listed for 30 days.',
    ...MANAGE_AGENTS,
    whileSuspended: 'read',
    status: 200,
    query: ListQuery,
    output: listOf('agents', ConnectedAgent),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'agents/{id}',
    summary: 'Get a connected agent',
    description: 'One connected agent.',
    ...MANAGE_AGENTS,
    whileSuspended: 'read',
    status: 200,
    params: z.object({ id: idInput('connectedAgent') }),
    output: z.object({ agent: ConnectedAgent }),
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'workspace',
    path: 'agents/{id}',
    summary: 'Widen or narrow a connected agent',
    description:
      'Sets the scope of the agent. It applies to the next request of the agent, which needs no new token. Only the person who connected the agent can widen the scope. Admins can narrow it.',
    ...MANAGE_AGENTS,
    whileSuspended: 'allowed',
    status: 200,
    params: z.object({ id: idInput('connectedAgent') }),
    body: z.strictObject({ scope: AgentScope }),
    output: z.object({ agent: ConnectedAgent }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'workspace',
    path: 'agents/{id}',
    summary: 'Revoke a connected agent',
    description:
      'Ends the connection. The next request of the agent gets 401, and its refresh tokens stop working. Revoking a revoked agent has no effect.',
    ...MANAGE_AGENTS,
    whileSuspended: 'allowed',
    status: 200,
    params: z.object({ id: idInput('connectedAgent') }),
    output: Deleted,
  }),
} as const
