import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Name, Text, Timestamp, WritableDatasetName } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { OriginError } from '../../origin-error.ts'

const Expression = Text.trim()
  .min(1)
  .max(LIMITS.cronExpressionCharsMax)
  .describe('Five fields: minute, hour, day of the month, month and day of the week, such as `0 9 * * 1-5`.')
const TimeZone = Text.min(1).max(64).describe('An IANA time zone name, such as `Europe/Berlin`.')
const Data = z
  .unknown()
  .describe('Any JSON value. It is `data` in the payload of every run; null: the payload has none.')

export const CronTrigger = z.object({
  id: idOutput('cronTrigger'),
  name: z.string(),
  expression: z.string(),
  time_zone: z.string(),
  dataset: z.string(),
  data: Data,
  enabled: z.boolean(),
  next_run_at: Timestamp.nullable().describe('Null while it is disabled.'),
  run_requested_at: Timestamp.nullable().describe(
    'The time of the last request to run now; null after that run has started.',
  ),
  runs: z.int().describe('The number of runs that stored an event.'),
  last_run: z
    .object({ scheduled_for: Timestamp, fired_at: Timestamp })
    .nullable()
    .describe('The last run that stored an event.'),
  last_error: OriginError.nullable().describe('The reason why the last run stored no event; null: it stored one.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const NextRuns = z.array(Timestamp).describe(`The next ${LIMITS.cronRunsShown} runs.`)
const at = z.object({ id: idInput('cronTrigger') })
const one = z.object({ cron_trigger: CronTrigger, next_runs: NextRuns })

export const cronTriggers = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'cron-triggers',
    summary: 'List cron triggers',
    description: 'The cron triggers of the project, newest first, with their next and their last run.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('cron_triggers', CronTrigger),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'cron-triggers',
    summary: 'Create a cron trigger',
    description:
      'Files an event into the dataset at every time of the schedule, once a minute at most. Its payload is `{"trigger_id", "scheduled_for", "fired_at", "data"}`. ' +
      'Each run is stored exactly once, however many processes run. After downtime, the trigger runs once for all missed runs. A suspended workspace skips its runs.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      expression: Expression,
      time_zone: TimeZone.default('UTC'),
      dataset: WritableDatasetName,
      data: Data.optional(),
      enabled: z.boolean().default(true),
    }),
    output: one,
  }),
  preview: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'cron-triggers/preview',
    summary: 'Preview a schedule',
    description: 'The next runs of an expression that is not saved. Does not store anything, so any role can use it.',
    ...READ,
    status: 200,
    body: z.strictObject({ expression: Expression, time_zone: TimeZone.default('UTC') }),
    output: z.object({ next_runs: NextRuns }),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'cron-triggers/{id}',
    summary: 'Get a cron trigger',
    description: 'One cron trigger of the project, with its next runs.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'cron-triggers/{id}',
    summary: 'Change a cron trigger',
    description:
      'Updates only the fields that you send. `enabled: false` pauses it. A trigger that is enabled again, or has another schedule, continues with the next time of the schedule.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      expression: Expression.optional(),
      time_zone: TimeZone.optional(),
      dataset: WritableDatasetName.optional(),
      data: Data.optional(),
      enabled: z.boolean().optional(),
    }),
    output: one,
  }),
  run: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'cron-triggers/{id}/run',
    summary: 'Run a cron trigger now',
    description:
      'Files one event soon, even while the trigger is disabled. The schedule does not change. Repeating the call before the run has no effect.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'cron-triggers/{id}',
    summary: 'Delete a cron trigger',
    description: 'Deletes the trigger. Events from its runs are not deleted.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
