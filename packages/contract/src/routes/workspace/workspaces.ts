import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Name, Slug, Timestamp } from '../../list.ts'
import { RESERVED_ROOTS } from '../../reserved-roots.ts'
import { defineRoute, MANAGE, READ, ROLES } from '../../route.ts'

const DAY_MS = 86_400_000

export const Workspace = z.object({
  id: idOutput('workspace'),
  slug: z.string(),
  name: z.string(),
  plan: z.string(),
  members: z.int(),
  max_members: z.int().nullable().describe('What the plan allows; null: any number.'),
  suspended: z.boolean(),
  closed_at: Timestamp.nullable().describe('null: it is open.'),
  deleted_after: Timestamp.nullable().describe('Until then a closed workspace can be reopened.'),
  created_at: Timestamp,
})

export const Own = z.object({
  id: idOutput('workspace'),
  slug: z.string(),
  name: z.string(),
  role: z.enum(ROLES).describe('Yours in it.'),
  current: z.boolean().describe('Where this session works at the moment.'),
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
    description: `You become its owner; it has a Default project. It is empty, and the session stays where it is: switch to it. One person may own ${LIMITS.workspacesOwnedMax}.`,
    ...MANAGE,
    role: 'viewer',
    callers: 'people',
    withoutWorkspace: true,
    status: 201,
    body: z.strictObject({
      name: Name,
      slug: Slug.refine((slug) => !RESERVED_ROOTS.has(slug), 'is a reserved word; choose another')
        .optional()
        .describe('The first part of endpoint URLs; it stays. Absent: made from the name.'),
    }),
    output: z.object({ workspace: Own }),
  }),
  switch: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'workspaces/switch',
    summary: 'Switch to another workspace',
    description:
      'From the next request on the session works in that workspace, with your role there. A suspended workspace can be left this way, and gone to.',
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
    description: 'The workspace that the credential is for, with its plan and how many members it has.',
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
    description: `From then on nothing is accepted, sent or streamed, as with a suspended workspace, and every event, stream and change is refused with 403 \`workspace_closed\`. For ${LIMITS.workspaceGraceMs / DAY_MS} days an owner can reopen it; after that everything in it is deleted for good; its audit log is retained as long as any other.`,
    ...MANAGE,
    role: 'owner',
    callers: 'people',
    status: 200,
    body: z.strictObject({ confirm: z.string().describe('The slug of the workspace.') }),
    output: one,
  }),
  reopen: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'workspace/reopen',
    summary: 'Reopen a closed workspace',
    description: 'It goes on where it stopped, and what waited is sent. A workspace that is open stays as it is.',
    ...MANAGE,
    role: 'owner',
    callers: 'people',
    whileClosed: 'allowed',
    status: 200,
    output: one,
  }),
} as const
