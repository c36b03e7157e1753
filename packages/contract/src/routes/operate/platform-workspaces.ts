import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Text, Timestamp } from '../../list.ts'
import { defineRoute, OPERATE, OPERATORS_READ } from '../../route.ts'

const { platformSearchCharsMax, suspensionReasonCharsMax } = LIMITS

export const WORKSPACE_STATES = ['active', 'suspended', 'closed'] as const

/** A workspace as operators see it. */
export const PlatformWorkspace = z.object({
  id: idOutput('workspace'),
  slug: z.string(),
  name: z.string(),
  plan: z.string(),
  state: z
    .enum(WORKSPACE_STATES)
    .describe('`suspended` also when it is closed too: `closed_at` and `suspended_at` show both.'),
  suspended_at: Timestamp.nullable(),
  suspended_reason: z.string().nullable().describe('Its members read it too.'),
  closed_at: Timestamp.nullable(),
  created_at: Timestamp,
  members: z.int(),
  network_restricted: z.boolean().describe('true: the workspace accepts requests only from listed addresses.'),
  usage: z.object({
    month: z.string().describe('UTC, such as 2026-01.'),
    events: z.int().describe('Accepted in this month.'),
    max_events: z.int().nullable().describe('What the plan allows; null: any number.'),
    deliveries: z.int().nullable().describe('Counted against the allowance of the plan. null: the plan has none.'),
    max_deliveries: z.int().nullable(),
  }),
  retained_events: z
    .int()
    .describe('Accepted since the first day that the plan retains, as the counts of the dashboard know it.'),
})

const at = z.object({ id: idInput('workspace') })
const one = z.object({ workspace: PlatformWorkspace })

export const platformWorkspaces = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'platform/workspaces',
    summary: 'List all workspaces',
    description: 'Every workspace of the installation, newest first, with its plan, state and usage.',
    ...OPERATORS_READ,
    status: 200,
    query: ListQuery.extend({
      q: Text.trim().max(platformSearchCharsMax).optional().describe('Only those whose slug or name contains this.'),
      state: z.enum(WORKSPACE_STATES).optional().describe('Only those in this state.'),
    }),
    output: listOf('workspaces', PlatformWorkspace),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'platform/workspaces/{id}',
    summary: 'Get any workspace',
    description: 'One workspace of the installation.',
    ...OPERATORS_READ,
    status: 200,
    params: at,
    output: one,
  }),
  suspend: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'platform/workspaces/{id}/suspend',
    summary: 'Suspend a workspace',
    description:
      'The workspace then accepts no events, sends no deliveries and refuses changes, on every node within a second. Stored data is not lost. Owners and admins get the reason by email. A workspace that is already suspended does not change and retains its first reason.',
    ...OPERATE,
    status: 200,
    params: at,
    body: z.strictObject({
      reason: Text.trim()
        .min(1)
        .max(suspensionReasonCharsMax)
        .describe('The reason. Members see it, and the audit log records it.'),
    }),
    output: one,
  }),
  reinstate: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'platform/workspaces/{id}/reinstate',
    summary: 'Reinstate a workspace',
    description:
      'The workspace accepts events again, and Postroad sends paused deliveries without using an attempt. A workspace that is not suspended does not change.',
    ...OPERATE,
    status: 200,
    params: at,
    output: one,
  }),
  setPlan: defineRoute({
    method: 'PUT',
    area: 'workspace',
    path: 'platform/workspaces/{id}/plan',
    summary: 'Change the plan of a workspace',
    description:
      'The limits of the plan apply on every node within a second. Postroad sends deliveries that wait for the allowance, up to the limit of the new plan.',
    ...OPERATE,
    status: 200,
    params: at,
    body: z.strictObject({ plan: Text.min(1).max(100).describe('A name of plans.json, such as `free`.') }),
    output: one,
  }),
  clearNetwork: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'platform/workspaces/{id}/clear-network',
    summary: 'Clear the network access of a workspace',
    description:
      'Clears the address list of a workspace whose members are locked out. Starting with the next request, any address can access the workspace.',
    ...OPERATE,
    status: 200,
    params: at,
    output: one,
  }),
} as const
