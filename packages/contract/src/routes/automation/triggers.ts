import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DatasetName, Deleted, ListQuery, listOf, Name, Timestamp, WritableDatasetName } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

const PerMinute = z
  .int()
  .min(1)
  .max(LIMITS.aiTriggerPerMinuteMax)
  .describe('The maximum number of runs that it starts per minute. Further runs wait. None are lost.')
const OutputDataset = WritableDatasetName.nullable().describe(
  'The dataset that Postroad files the output of a run into; null: the output is not filed.',
)

export const AiTrigger = z.object({
  id: idOutput('aiTrigger'),
  name: z.string(),
  dataset: z.string(),
  conditions: Conditions,
  agent_id: idOutput('aiAgent'),
  active: z.boolean(),
  max_per_minute: PerMinute,
  output_dataset: OutputDataset,
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('aiTrigger') })
const one = z.object({ trigger: AiTrigger })

export const triggers = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'triggers',
    summary: 'List AI triggers',
    description: 'The triggers that run agents on records of the project, newest first.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('triggers', AiTrigger),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'triggers',
    summary: 'Create an AI trigger',
    description:
      'Runs an agent on each record of the dataset that matches the conditions. Postroad stores the record and the run in one transaction, so no run is lost. Conditions compare with strict equality.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      dataset: DatasetName,
      conditions: Conditions.default([]),
      agent_id: idInput('aiAgent'),
      active: z.boolean().default(true),
      max_per_minute: PerMinute.default(LIMITS.aiTriggerPerMinuteDefault),
      output_dataset: OutputDataset.default(null),
    }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'triggers/{id}',
    summary: 'Get an AI trigger',
    description: 'One trigger of the project.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'triggers/{id}',
    summary: 'Change an AI trigger',
    description: 'Updates only the fields that you send. Takes effect on every node within a second.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      dataset: DatasetName.optional(),
      conditions: Conditions.optional(),
      agent_id: idInput('aiAgent').optional(),
      active: z.boolean().optional(),
      max_per_minute: PerMinute.optional(),
      output_dataset: OutputDataset.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'triggers/{id}',
    summary: 'Delete an AI trigger',
    description: 'Deletes the trigger. Its runs in progress continue, and those that still wait are skipped.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
