import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DatasetName, Deleted, ListQuery, listOf, Name, Timestamp } from '../../list.ts'
import { OriginError } from '../../origin-error.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { ShownSourceSettings, SourceSettings } from '../../source-settings.ts'

export const Source = z.object({
  id: idOutput('source'),
  name: z.string(),
  dataset: z.string(),
  conditions: Conditions,
  settings: ShownSourceSettings,
  enabled: z.boolean(),
  disabled_reason: z
    .enum(['by_hand', 'failing'])
    .nullable()
    .describe('`failing`: Postroad could not read it for 24 hours, and switched it off.'),
  disabled_at: Timestamp.nullable(),
  state: z
    .enum(['disabled', 'waiting', 'reading', 'failing'])
    .describe('`waiting`: it waits for its next run. `failing`: its last run failed, and Postroad will try again.'),
  position: z
    .unknown()
    .describe('Postroad has stored everything before this position; null: the source has not started.'),
  next_run_at: Timestamp.nullable(),
  last_run_at: Timestamp.nullable(),
  last_event_at: Timestamp.nullable(),
  runs: z.int(),
  events: z.int().describe('The number of events that it has stored.'),
  skipped: z
    .int()
    .describe('The number of items that could not be stored because they were too large or were not JSON.'),
  failures: z.int().describe('The number of failed runs in a row.'),
  failing_since: Timestamp.nullable(),
  last_error: OriginError.nullable().describe('The last error; null: the last run succeeded.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('source') })
const one = z.object({ source: Source })

export const sources = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'sources',
    summary: 'List sources',
    description:
      'The sources of the project, newest first, with their state. No connection string and no value of a header is shown.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('sources', Source),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'sources',
    summary: 'Create a source',
    description:
      'Reads a system that sends no webhooks, and files what is new into the dataset. Events and the position are one commit, so no crash loses or repeats one. ' +
      'A source that cannot be read is tried again with growing pauses of up to 15 minutes, and switched off after 24 hours. It stops while the workspace is suspended and continues from its position.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      dataset: DatasetName,
      conditions: Conditions.default([]),
      enabled: z.boolean().default(true),
      settings: SourceSettings,
    }),
    output: one,
  }),
  test: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'sources/test',
    summary: 'Try the settings of a source',
    description: `Connects with settings that need not be saved, and returns the next ${LIMITS.sourceSampleRows} items. It stores no event and moves no position. A failure is part of the answer.`,
    ...WRITE,
    status: 200,
    refusesIdempotencyKey: true,
    body: z.strictObject({
      settings: SourceSettings,
      source_id: idInput('source')
        .optional()
        .describe('A saved source, whose stored secret the settings may leave out.'),
    }),
    output: z.object({
      ok: z.boolean(),
      items: z.array(z.unknown()).describe('The payloads, as their events would have them.'),
      error: OriginError.nullable(),
    }),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'sources/{id}',
    summary: 'Get a source',
    description: 'One source of the project, with its state.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'sources/{id}',
    summary: 'Change a source',
    description:
      'Changes the members that are sent. `settings` are replaced as a whole, and their kind cannot change. A source with another cursor, key or start begins again; otherwise it continues from its position. ' +
      'The stored secret goes only to the place that it was set for, so a change of that place, or of the encryption, needs it again. `enabled: true` also ends a pause after failures.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      dataset: DatasetName.optional(),
      conditions: Conditions.optional(),
      enabled: z.boolean().optional(),
      settings: SourceSettings.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'sources/{id}',
    summary: 'Delete a source',
    description: 'Deletes the source with its stored secret. Its events stay.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
