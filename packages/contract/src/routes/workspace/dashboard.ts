import { z } from 'zod'
import { Breaker } from '../../destination-settings.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Instant, Timestamp } from '../../list.ts'
import { RejectionReason } from '../../rejection.ts'
import { defineRoute, READ } from '../../route.ts'

const { dashboardRangeDaysMax, dashboardRangeHoursDefault, backlogCountMax, failingDestinationsMax } = LIMITS

const Quantiles = z
  .object({
    p50: z.int().describe('Half took at most so many milliseconds.'),
    p95: z.int().describe('95 % took at most so many milliseconds.'),
  })
  .nullable()
  .describe('From a histogram: at most a third off. null: there was nothing to measure.')

const Counts = {
  submissions: z.int().describe('Accepted requests.'),
  records: z.int().describe('Records that they were filed as.'),
  rejected: z.int().describe('Refused requests, as the rejection log counts them.'),
  delivered: z.int().describe('Attempts that succeeded.'),
  failed: z.int().describe('Attempts that failed.'),
  gave_up: z.int().describe('Of these, the last ones of a schedule: their deliveries ended as `failed`.'),
  interrupted: z.int().describe('Attempts whose sender died, so that nobody knows; they were made again.'),
  open: z.int().describe('Attempts of that time that are still under way.'),
}

const Totals = z.object({ ...Counts, bytes: z.int().describe('Bytes of the bodies accepted.') })

const range = {
  from: Instant.optional().describe(
    `RFC 3339: the start of the range. Absent: ${dashboardRangeHoursDefault} hours before its end.`,
  ),
  to: Instant.optional().describe('RFC 3339: the end of the range, outside of it. Absent: now.'),
  project_id: idInput('project').optional().describe('Only this project. Absent: all of the workspace.'),
}

const Counted = {
  from: Timestamp.describe(
    'The range as it was counted: widened to whole minutes, or hours when it begins more than 7 days ago.',
  ),
  to: Timestamp,
  counted_at: Timestamp.nullable().describe('When the counting last came by, some seconds ago; null: never yet.'),
  closed_until: Timestamp.nullable().describe(
    'Before this, every count is exact and changes no more, but for attempts that are `open`.',
  ),
}

const LIMITED = `A range is at most ${dashboardRangeDaysMax} days long.`

export const dashboard = {
  summary: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'dashboard/summary',
    summary: 'See what happened, in numbers',
    description:
      'What came in, was refused, delivered and failed over a range of time and over the one before it; how long it took; what waits at this moment; where it fails. ' +
      `An attempt counts in the minute in which it began. ${LIMITED}`,
    ...READ,
    status: 200,
    query: z.object(range),
    output: z.object({
      summary: z.object({
        ...Counted,
        totals: Totals,
        previous: Totals.describe('The same of the range of the same length right before.'),
        delivery_ms: Quantiles.describe(
          'From the acceptance of an event until its delivery, retries included; replays are not measured.',
        ),
        response_ms: Quantiles.describe('How long attempts took.'),
        backlog: z
          .object({
            pending: z.int().describe('Deliveries that were not tried yet.'),
            retrying: z.int().describe('Deliveries that failed and are tried again.'),
            paused: z.int().describe('Deliveries that are paused; pause_reason of each says why.'),
            held: z.int().describe('Of all these, those that their destination holds back; held_by of each says why.'),
            oldest_accepted_at: Timestamp.nullable().describe(
              'When the oldest of the pending and retrying ones came; null: there is none.',
            ),
          })
          .describe(`What waits now. Each is counted up to ${backlogCountMax.toLocaleString('en')}.`),
        failing_destinations: z
          .array(
            z.object({
              destination_id: idOutput('destination'),
              project_id: idOutput('project'),
              name: z.string(),
              enabled: z.boolean(),
              disabled_reason: z.enum(['by_hand', 'gone', 'failing']).nullable(),
              breaker: Breaker,
              delivered: z.int(),
              failed: z.int(),
              response_ms: Quantiles,
            }),
          )
          .describe(`Where most attempts failed, at most ${failingDestinationsMax}, the worst first.`),
        rejections: z
          .array(
            z.object({
              reason: RejectionReason,
              count: z.int(),
              last_at: Timestamp.describe('The minute, or of long ago the hour, of the latest.'),
            }),
          )
          .describe('Refused requests by cause, the newest first.'),
        usage: z.object({
          month: z.string().describe('UTC, such as 2026-01.'),
          events: z.int().describe('Accepted in this month.'),
          max_events: z.int().nullable().describe('What the plan allows; null: any number.'),
          deliveries: z
            .int()
            .nullable()
            .describe(
              'Deliveries of this month that count against the allowance: those of new events, and one for each replay; those that wait for it do not. null: the plan has none.',
            ),
          max_deliveries: z
            .int()
            .nullable()
            .describe(
              'The allowance of the plan; null: any number. What goes beyond it is paused until the next month, or until the plan is changed.',
            ),
        }),
      }),
    }),
  }),
  timeseries: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'dashboard/timeseries',
    summary: 'See what happened over time',
    description:
      'The same counts in buckets of equal length, from a minute to a day, chosen for the range so that there are about a hundred; a bucket in which nothing happened is there with zeros. ' +
      `The range is widened to whole buckets, which begin at multiples of their length since 1970. ${LIMITED}`,
    ...READ,
    status: 200,
    query: z.object(range),
    output: z.object({
      timeseries: z.object({
        ...Counted,
        bucket_seconds: z.int(),
        points: z.array(
          z.object({
            at: Timestamp.describe('When the bucket begins.'),
            ...Counts,
            delivery_ms: Quantiles,
            response_ms: Quantiles,
          }),
        ),
      }),
    }),
  }),
} as const
