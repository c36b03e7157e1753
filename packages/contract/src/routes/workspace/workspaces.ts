import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Name, Slug, Text, Timestamp } from '../../list.ts'
import { RESERVED_ROOTS } from '../../reserved-roots.ts'
import { defineRoute, MANAGE, READ, ROLES } from '../../route.ts'

const DAY_MS = 86_400_000

export const Workspace = z.object({
  id: idOutput('workspace'),
  slug: z.string(),
  name: z.string(),
  plan: z.string(),
  members: z.int(),
  max_members: z.int().nullable().describe('The limit of the plan; null: unlimited.'),
  suspended: z.boolean(),
  suspended_reason: z.string().nullable().describe('The reason that the operator gave. null: it is not suspended.'),
  closed_at: Timestamp.nullable().describe('null: the workspace is open.'),
  deleted_after: Timestamp.nullable().describe('The time until which a closed workspace can be reopened.'),
  created_at: Timestamp,
})

export const Own = z.object({
  id: idOutput('workspace'),
  slug: z.string(),
  name: z.string(),
  role: z.enum(ROLES).describe('Your role in the workspace.'),
  current: z.boolean().describe('true: the session currently works in this workspace.'),
  suspended: z.boolean(),
  closed_at: Timestamp.nullable(),
  created_at: Timestamp,
})

const one = z.object({ workspace: Workspace })

export const workspaces = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'workspaces',
    summary: 'List my workspaces',
    description: 'The workspaces that you are a member of, newest first.',
    ...READ,
    callers: 'people',
    withoutWorkspace: true,
    status: 200,
    query: ListQuery,
    output: listOf('workspaces', Own),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'workspaces',
    summary: 'Create a workspace',
    description: `Creates an empty workspace with a Default project and makes you its owner. The session stays in its current workspace; switch to the new one. One person can own at most ${LIMITS.workspacesOwnedMax}.`,
    ...MANAGE,
    role: 'viewer',
    callers: 'people',
    whileSuspended: 'allowed',
    withoutWorkspace: true,
    status: 201,
    body: z.strictObject({
      name: Name,
      slug: Slug.refine((slug) => !RESERVED_ROOTS.has(slug), 'is a reserved word; choose another')
        .optional()
        .describe('The first part of endpoint URLs. It cannot be changed. Absent: generated from the name.'),
    }),
    output: z.object({ workspace: Own }),
  }),
  switch: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'workspaces/switch',
    summary: 'Switch to another workspace',
    description:
      'From the next request, the session works in that workspace, with your role there. You can switch from and to a suspended workspace.',
    ...MANAGE,
    role: 'viewer',
    callers: 'people',
    whileSuspended: 'allowed',
    withoutWorkspace: true,
    status: 200,
    body: z.strictObject({ workspace_id: idInput('workspace') }),
    output: z.object({ workspace: Own }),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'workspace',
    summary: 'Get the workspace',
    description: 'The workspace of the credential, with its plan and its number of members.',
    ...READ,
    status: 200,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'workspace',
    path: 'workspace',
    summary: 'Rename the workspace',
    description: 'Changes the name. The slug stays, because it is part of endpoint URLs.',
    ...MANAGE,
    status: 200,
    body: z.strictObject({ name: Name }),
    output: one,
  }),
  close: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'workspace/close',
    summary: 'Close the workspace',
    description: `Postroad then accepts, sends and streams nothing for the workspace, as if it were suspended, and refuses every event, stream and change with 403 \`workspace_closed\`. For ${LIMITS.workspaceGraceMs / DAY_MS} days an owner can reopen it. After that, everything in it is deleted permanently, except its audit log, which has its normal retention.`,
    ...MANAGE,
    role: 'owner',
    callers: 'people',
    status: 200,
    body: z.strictObject({ confirm: Text.describe('The slug of the workspace.') }),
    output: one,
  }),
  reopen: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'workspace/reopen',
    summary: 'Reopen a closed workspace',
    description:
      'The workspace continues where it stopped, and Postroad sends its waiting deliveries. An open workspace stays as it is.',
    ...MANAGE,
    role: 'owner',
    callers: 'people',
    whileClosed: 'allowed',
    status: 200,
    output: one,
  }),
} as const
