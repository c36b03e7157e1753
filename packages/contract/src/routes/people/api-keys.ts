import { z } from 'zod'
import { IpAllowlist } from '../../gates.ts'
import { idInput, idOutput } from '../../ids.ts'
import { Deleted, Instant, ListQuery, listOf, Name, Timestamp } from '../../list.ts'
import { defineRoute, MANAGE, READ } from '../../route.ts'

const API_KEY_ROLES = ['viewer', 'developer', 'admin'] as const
const API_KEY_STATUSES = ['active', 'expired', 'revoked'] as const

const Role = z
  .enum(API_KEY_ROLES, 'The role is viewer, developer or admin.')
  .describe(
    'The highest role of the key: it acts as its creator, with this role or the current role of the creator, whichever is lower.',
  )

export const ApiKey = z.object({
  id: idOutput('apiKey'),
  name: z.string(),
  shown_prefix: z.string().describe('The first 11 characters of the key.'),
  role: Role,
  project_id: idOutput('project')
    .nullable()
    .describe('The only project that it can access; null: the whole workspace.'),
  expires_at: Timestamp.nullable().describe('null: the key never expires.'),
  ip_allowlist: z.array(z.string()).describe('The IP addresses that can use the key; empty: any address.'),
  status: z.enum(API_KEY_STATUSES),
  created_by: z.object({
    id: idOutput('user'),
    name: z.string(),
    is_member: z.boolean().describe('false: the creator has left the workspace, and the key no longer works.'),
  }),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable().describe('Updated at most once a minute.'),
})

export const apiKeys = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'api-keys',
    summary: 'List API keys',
    description:
      'The API keys of the workspace, newest first, including expired and revoked ones, without the keys themselves.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('api_keys', ApiKey),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'api-keys',
    summary: 'Create an API key',
    description:
      'Only a signed-in person can create a key. The response contains the key once, in `key`. The key acts as the person who created it, and its role may not be above theirs. ' +
      'A key cannot be changed or rotated: revoke it and create another. An Idempotency-Key is refused with 400.',
    ...MANAGE,
    role: 'viewer',
    callers: 'people',
    afterClaim: true,
    status: 201,
    showsSecret: true,
    refusesIdempotencyKey: true,
    body: z.strictObject({
      name: Name,
      role: Role,
      project_id: idInput('project')
        .nullable()
        .default(null)
        .describe('The only project that it can access; null: the whole workspace.'),
      expires_at: Instant.nullable().default(null).describe('RFC 3339, in the future; null: the key never expires.'),
      ip_allowlist: IpAllowlist.default([]),
    }),
    output: z.object({ api_key: ApiKey, key: z.string().describe('The key. It is shown only once.') }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'workspace',
    path: 'api-keys/{id}',
    summary: 'Revoke an API key',
    description:
      'The next request with the key gets 401. The key stays in the list. Revoking a revoked key has no effect. This also works in a suspended workspace.',
    ...MANAGE,
    whileSuspended: 'allowed',
    status: 200,
    params: z.object({ id: idInput('apiKey') }),
    output: Deleted,
  }),
} as const
