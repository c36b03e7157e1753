import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Timestamp } from '../../list.ts'
import { RejectionReason } from '../../rejection.ts'
import { defineRoute, READ } from '../../route.ts'

const { activityLimitMax, activityLimitDefault, activityRowsMax, activityCountMax } = LIMITS
const thousands = (count: number): string => count.toLocaleString('en')

/** How far the deliveries of a submission are, as one word: the first of these that one of them is in. */
export const FORWARD_STATUSES = ['failed', 'retrying', 'paused', 'pending', 'delivered', 'cancelled', 'none'] as const

export const ActivityRow = z.object({
  kind: z.enum(['received', 'rejected']),
  id: z.string().describe('sub_…: a submission. rej_…: a row of the rejection log.'),
  at: Timestamp,
  reason: RejectionReason.nullable().describe('Why it was refused; null: it was not.'),
  status: z.int().describe('The status that the sender was answered.'),
  count: z.int().describe('1, or how many requests of a minute were refused for the same reason.'),
  source_ip: z.string().nullable(),
  method: z.string(),
  content_type: z.string().nullable(),
  forward_status: z
    .enum(FORWARD_STATUSES)
    .describe(
      'How far the deliveries of a submission are: `failed`, `retrying`, `paused` or `pending` when at least one is, in this order; else `delivered`, or ' +
        '`cancelled` when all were; `none`: it has no deliveries, or it was refused.',
    ),
})

export const activity = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}/activity',
    summary: 'See what an endpoint received and refused',
    description:
      'What came to the endpoint in the last 7 days, newest first: its submissions, and its rows of the rejection log, which are one for a credential, a reason ' +
      `and a minute. The newest ${thousands(activityRowsMax)} rows can be paged through. \`summary\` covers the last 24 hours.`,
    ...READ,
    status: 200,
    params: z.object({ id: idInput('webhook') }),
    query: z.object({
      kind: z.enum(['all', 'received', 'rejected']).default('all').describe('Which rows; the summary is of both.'),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(activityLimitMax)
        .default(activityLimitDefault)
        .describe(`How many at most: 1 to ${activityLimitMax}.`),
      offset: z.coerce
        .number()
        .int()
        .min(0)
        .default(0)
        .describe('How many rows to pass over. Beyond the last row there are none.'),
    }),
    output: z.object({
      endpoint_id: idOutput('webhook'),
      summary: z.object({
        window_hours: z.int(),
        received: z.int().describe(`How many submissions came; at most ${thousands(activityCountMax)} are counted.`),
        rejected: z.int().describe('How many requests were refused.'),
        last_received_at: Timestamp.nullable().describe('null: none in these hours.'),
        last_rejected_at: Timestamp.nullable().describe('null: none in these hours.'),
      }),
      rows: z.array(ActivityRow),
      total: z.int().describe(`How many rows there are to page through: at most ${thousands(activityRowsMax)}.`),
      limit: z.int(),
      offset: z.int(),
      since: Timestamp.describe('The rows are of this time or later.'),
    }),
  }),
} as const
