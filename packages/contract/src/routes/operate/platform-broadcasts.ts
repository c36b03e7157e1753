import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Instant, ListQuery, listOf, Text, Timestamp } from '../../list.ts'
import { defineRoute, OPERATE, OPERATORS_READ } from '../../route.ts'
import { Broadcast, BROADCAST_SEVERITIES } from './broadcasts.ts'

const { broadcastTitleCharsMax, broadcastTextCharsMax, broadcastWorkspacesMax } = LIMITS

/** An announcement as operators see it. */
export const PlatformBroadcast = Broadcast.extend({
  active: z.boolean().describe('false: it has ended, or it was withdrawn.'),
  workspace_ids: z
    .array(idOutput('workspace'))
    .nullable()
    .describe('The workspaces that see the announcement. null: all workspaces.'),
  created_by: idOutput('user'),
  withdrawn_at: Timestamp.nullable(),
})

const one = z.object({ broadcast: PlatformBroadcast })

export const platformBroadcasts = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'platform/broadcasts',
    summary: 'List all announcements',
    description: 'All announcements of the installation, newest first, including withdrawn ones.',
    ...OPERATORS_READ,
    status: 200,
    query: ListQuery,
    output: listOf('broadcasts', PlatformBroadcast),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'platform/broadcasts',
    summary: 'Create an announcement',
    description: 'Workspace members see the announcement immediately.',
    ...OPERATE,
    status: 201,
    body: z.strictObject({
      title: Text.trim().min(1).max(broadcastTitleCharsMax),
      text: Text.trim().min(1).max(broadcastTextCharsMax).describe('Plain text.'),
      severity: z.enum(BROADCAST_SEVERITIES).default('info'),
      workspace_ids: z
        .array(idInput('workspace'))
        .min(1)
        .max(broadcastWorkspacesMax)
        .nullable()
        .default(null)
        .describe('null: all workspaces.'),
      ends_at: Instant.nullable().default(null).describe('RFC 3339, in the future. null: it has no end.'),
    }),
    output: one,
  }),
  withdraw: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'platform/broadcasts/{id}/withdraw',
    summary: 'Withdraw an announcement',
    description: 'Members no longer see the announcement. Operators see it as withdrawn.',
    ...OPERATE,
    status: 200,
    params: z.object({ id: idInput('broadcast') }),
    output: one,
  }),
} as const
