import { z } from 'zod'
import { Breaker } from '../../destination-settings.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Instant, Timestamp } from '../../list.ts'
import { Quantiles } from '../../quantiles.ts'
import { RejectionReason } from '../../rejection.ts'
import { defineRoute, READ } from '../../route.ts'

const { dashboardRangeDaysMax, dashboardRangeHoursDefault, backlogCountMax, failingDestinationsMax } = LIMITS

const Counts = {
  submissions: z.int().describe('Accepted requests.'),
  records: z.int().describe('The records of these requests.'),
  rejected: z.int().describe('Rejected requests, counted as in the rejection log.'),
  delivered: z.int().describe('Attempts that succeeded.'),
  failed: z.int().describe('Attempts that failed.'),
  gave_up: z
    .int()
    .describe('The failed attempts that were the last of their schedule, so their deliveries ended as `failed`.'),
  interrupted: z
    .int()
    .describe('Attempts whose outcome is unknown because the sender stopped. Postroad made them again.'),
  open: z.int().describe('Attempts of that time that are still in progress.'),
}

const Totals = z.object({ ...Counts, bytes: z.int().describe('The size of the accepted bodies in bytes.') })

const range = {
  from: Instant.optional().describe(
    `RFC 3339: the start of the range. Absent: ${dashboardRangeHoursDefault} hours before its end.`,
  ),
  to: Instant.optional().describe('RFC 3339: the end of the range (exclusive). Absent: now.'),
  project_id: idInput('project').optional().describe('Only this project. Absent: the whole workspace.'),
}

const Counted = {
  from: Timestamp.describe(
    'The start of the range, rounded out to whole minutes, or to whole hours when it is more than 7 days ago.',
  ),
  to: Timestamp,
  counted_at: Timestamp.nullable().describe('The time of the last count, some seconds ago; null: not counted yet.'),
  closed_until: Timestamp.nullable().describe(
    'Counts from before this time are exact and no longer change, except for attempts that are `open`.',
  ),
}

const LIMITED = `A range is at most ${dashboardRangeDaysMax} days long.`

export const dashboard = {
  summary: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'dashboard/summary',
    summary: 'Get the totals of a time range',
    description:
      'How many requests and attempts a time range and the range before it had, with their outcomes and durations; the deliveries that wait now; and the destinations that fail. ' +
      `An attempt counts in the minute in which it started. ${LIMITED}`,
    ...READ,
    status: 200,
    query: z.object(range),
    output: z.object({
      summary: z.object({
        ...Counted,
        totals: Totals,
        previous: Totals.describe('The totals of the range of the same length right before.'),
        delivery_ms: Quantiles.describe(
          'The time from the acceptance of an event to its delivery, including retries. Replays are not measured.',
        ),
        response_ms: Quantiles.describe('The duration of attempts.'),
        backlog: z
          .object({
            pending: z.int().describe('Deliveries without an attempt so far.'),
            retrying: z.int().describe('Deliveries that wait for another attempt.'),
            paused: z.int().describe('Deliveries that are paused; pause_reason of each gives the cause.'),
            held: z
              .int()
              .describe(
                'The deliveries among these that their destination holds back; held_by of each gives the cause.',
              ),
            oldest_accepted_at: Timestamp.nullable().describe(
              'The time at which the event of the oldest pending or retrying delivery was accepted; null: there is none.',
            ),
          })
          .describe(
            `The deliveries that wait now. Each number is counted up to ${backlogCountMax.toLocaleString('en')}.`,
          ),
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
          .describe(`The destinations with the most failed attempts, at most ${failingDestinationsMax}, worst first.`),
        rejections: z
          .array(
            z.object({
              reason: RejectionReason,
              count: z.int(),
              last_at: Timestamp.describe('The minute of the latest one, or the hour if it is long ago.'),
            }),
          )
          .describe('Rejected requests by cause, latest first.'),
        usage: z.object({
          month: z.string().describe('UTC, such as 2026-01.'),
          since: Timestamp.describe('The start of the month, or of the workspace if it was made later.'),
          events: z.int().describe('Events accepted in this month.'),
          max_events: z.int().nullable().describe('The limit of the plan; null: unlimited.'),
          deliveries: z
            .int()
            .nullable()
            .describe(
              'Deliveries of this month that count against the allowance: those of new events, and one for each replay. Deliveries that wait for the allowance do not count. null: the plan has no allowance.',
            ),
          max_deliveries: z
            .int()
            .nullable()
            .describe(
              'The allowance of the plan; null: unlimited. Deliveries beyond it are paused until the next month starts or the plan changes.',
            ),
        }),
      }),
    }),
  }),
  timeseries: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'dashboard/timeseries',
    summary: 'Get the counts over time',
    description:
      'The same counts in buckets of equal length, from a minute to a day, chosen so that the range has about a hundred. A bucket in which nothing happened has zeros. ' +
      `The range is rounded out to whole buckets, which start at multiples of their length since 1970. ${LIMITED}`,
    ...READ,
    status: 200,
    query: z.object(range),
    output: z.object({
      timeseries: z.object({
        ...Counted,
        bucket_seconds: z.int(),
        points: z.array(
          z.object({
            at: Timestamp.describe('The start of the bucket.'),
            ...Counts,
            delivery_ms: Quantiles,
            response_ms: Quantiles,
          }),
        ),
      }),
    }),
  }),
} as const
