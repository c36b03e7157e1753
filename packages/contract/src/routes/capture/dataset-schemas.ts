import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Timestamp } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'

const Type = z.enum(['string', 'integer', 'number', 'boolean', 'null', 'object', 'array'])

const Field = z.object({
  path: z
    .string()
    .describe(
      'The dot path of the field. `[]` behind the path of a list means every element; `\\.` is a dot in a key.',
    ),
  types: z
    .array(z.object({ type: Type, count: z.int() }))
    .describe('The types at this path, with the number of records that were read with each of them.'),
  seen: z.int().describe('The number of records that were read and have this field.'),
  presence: z.number().describe('`seen` as a share of `records_read`, 0 to 1.'),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  gone_at: Timestamp.nullable().describe(
    'Set while a field that at least 90 % of the records had is missing in 50 records in a row.',
  ),
})

const Drift = z.object({
  kind: z.enum(['field_added', 'type_added', 'field_gone', 'field_back']),
  path: z.string(),
  type: Type.nullable().describe('The new type; null for a field that is gone or back.'),
  record_id: idOutput('record').describe('The record that showed the change.'),
  at: Timestamp,
})

/** The fields of the payloads of a dataset. */
export const DatasetSchema = z.object({
  dataset: z.string(),
  records_read: z
    .int()
    .describe(
      `The number of records that the schema is made from: at most ${LIMITS.datasetReadPerMinuteMax} a minute, and none above ${LIMITS.datasetReadBytesMax / 1_024} KiB.`,
    ),
  learned_at: Timestamp.nullable().describe('The last time at which it was stored; null: it is made from this call.'),
  complete: z
    .boolean()
    .describe(
      `false: some fields are missing, because there are more than ${LIMITS.datasetFieldsMax} or their paths are longer than ${LIMITS.datasetFieldPathCharsMax} characters.`,
    ),
  fields: z.array(Field).describe('In the order in which they were first seen.'),
  drifts: z
    .array(Drift)
    .describe(
      `The newest ${LIMITS.datasetDriftsShown} changes, newest first. There are none for the first 20 records, because everything is new then.`,
    ),
})

export const datasetSchemas = {
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'datasets/{id}/schema',
    summary: 'Get the schema of a dataset',
    description:
      'The fields that the records of the dataset have: their types, how often they are present, when they were first and last seen, and how the records changed over time. ' +
      'Postroad learns it from a sample of the records.',
    ...READ,
    status: 200,
    params: z.object({ id: idInput('dataset') }),
    output: z.object({ schema: DatasetSchema }),
  }),
} as const
