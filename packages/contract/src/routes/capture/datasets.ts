import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Text, Timestamp, WritableDatasetName } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const Dataset = z.object({
  id: idOutput('dataset'),
  name: z.string(),
  description: z.string().nullable(),
  retention_days: z.int().nullable().describe('null: its records are stored as long as the plan allows.'),
  last_record_at: Timestamp.nullable().describe('The time of its newest record; null: it has none.'),
  created_at: Timestamp,
})

const at = z.object({ id: idInput('dataset') })
const Description = Text.max(1_000).nullable()
const RetentionDays = z
  .int('must be a whole number of days')
  .min(1)
  .max(LIMITS.datasetRetentionDaysMax)
  .nullable()
  .describe(
    `The number of whole days, and the rest of today (UTC), for which its records are stored, 1 to ${LIMITS.datasetRetentionDaysMax}. The retention of the plan applies too, so a longer one has no effect. null: only that of the plan. A record whose deliveries have not all ended is stored until they have.`,
  )
const one = z.object({ dataset: Dataset })

export const datasets = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'datasets',
    summary: 'List datasets',
    description: 'The datasets of the project, newest first. The first event that names a new dataset creates it too.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('datasets', Dataset),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'datasets',
    summary: 'Create a dataset',
    description: 'Creates a dataset before its first event. The name identifies the dataset and cannot be changed.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: WritableDatasetName,
      description: Description.default(null),
      retention_days: RetentionDays.default(null),
    }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'datasets/{id}',
    summary: 'Get a dataset',
    description: 'One dataset of the project.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'datasets/{id}',
    summary: 'Change a dataset',
    description:
      'Updates only the fields that you send. A shorter retention_days erases older records within minutes, with their deliveries that have ended.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({ description: Description.optional(), retention_days: RetentionDays.optional() }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'datasets/{id}',
    summary: 'Delete a dataset and its records',
    description:
      'Removes the dataset immediately. Postroad erases its records within minutes, with their completed deliveries and the requests that have no record in another dataset. ' +
      'A record whose deliveries have not all ended is erased when they have. An endpoint, rule or workflow that files into the dataset creates it again with its next event.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
