import { z } from 'zod'
import { HeldBy } from '../../held-by.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Timestamp } from '../../list.ts'
import { RejectionReason } from '../../rejection.ts'
import { defineRoute, READ } from '../../route.ts'

const { activityLimitMax, activityLimitDefault, activityRowsMax, activityCountMax } = LIMITS
const thousands = (count: number): string => count.toLocaleString('en')

/** The progress of the deliveries of a submission, as one word: the first of these states that one of them is in. */
export const FORWARD_STATUSES = ['failed', 'retrying', 'paused', 'pending', 'delivered', 'cancelled', 'none'] as const

export const ActivityRow = z.object({
  kind: z.enum(['received', 'rejected']),
  id: z.string().describe('sub_…: a submission. rej_…: a row of the rejection log.'),
  at: Timestamp,
  reason: RejectionReason.nullable().describe('The reason of the refusal; null: the request was not refused.'),
  status: z.int().describe('The status of the response to the sender.'),
  count: z.int().describe('1, or the number of requests refused for the same reason in a minute.'),
  source_ip: z.string().nullable(),
  method: z.string(),
  content_type: z.string().nullable(),
  forward_status: z
    .enum(FORWARD_STATUSES)
    .describe(
      'The progress of the deliveries of a submission: `failed`, `retrying`, `paused` or `pending` if at least one is, in this order; otherwise `delivered`, or ' +
        '`cancelled` when all were. `none`: the submission has no deliveries, or the request was refused.',
    ),
  held_by: HeldBy.nullable().describe(
    'The most serious cause for which a destination holds back a delivery of the submission; null: none of them is held back.',
  ),
})

export const activity = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}/activity',
    summary: 'List what an endpoint received and refused',
    description:
      'The requests of the last 7 days, newest first: the submissions of the endpoint, and its rows of the rejection log, one for each credential, reason ' +
      `and minute. You can page through the newest ${thousands(activityRowsMax)} rows. \`summary\` covers the last 24 hours.`,
    ...READ,
    status: 200,
    params: z.object({ id: idInput('webhook') }),
    query: z.object({
      kind: z
        .enum(['all', 'received', 'rejected'])
        .default('all')
        .describe('The kind of rows to list. The summary always covers both kinds.'),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(activityLimitMax)
        .default(activityLimitDefault)
        .describe(`The maximum number of rows, 1 to ${activityLimitMax}.`),
      offset: z.coerce
        .number()
        .int()
        .min(0)
        .default(0)
        .describe('The number of rows to skip. Beyond the last row the list is empty.'),
    }),
    output: z.object({
      endpoint_id: idOutput('webhook'),
      summary: z.object({
        window_hours: z.int(),
        received: z.int().describe(`The number of submissions, counted up to ${thousands(activityCountMax)}.`),
        rejected: z.int().describe('The number of rejected requests.'),
        duplicates: z.int().describe('The number of repeats of submissions that were repeated in these hours.'),
        key_reused: z
          .int()
          .describe('The number of submissions whose key an earlier one with another body had; see `idempotency`.'),
        last_received_at: Timestamp.nullable().describe('null: none in these hours.'),
        last_rejected_at: Timestamp.nullable().describe('null: none in these hours.'),
      }),
      rows: z.array(ActivityRow),
      total: z.int().describe(`The number of rows to page through, at most ${thousands(activityRowsMax)}.`),
      limit: z.int(),
      offset: z.int(),
      since: Timestamp.describe('The rows are from this time or later.'),
    }),
  }),
} as const
