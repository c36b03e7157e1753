import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import { CustomerPath } from '../../customer-setting.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Name, Timestamp, WritableDatasetName } from '../../list.ts'
import { OriginError } from '../../origin-error.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { ShownSourceSettings, SourceSettings } from '../../source-settings.ts'

const Replication = z.object({
  slot: z.string(),
  wal_status: z
    .string()
    .nullable()
    .describe(
      'As PostgreSQL reports it: `reserved`, `extended`, `unreserved` (the slot may be lost soon) or `lost`. Null: the slot does not exist.',
    ),
  lag_bytes: z.int().nullable().describe('The WAL that is newer than the position.'),
  retained_bytes: z.int().nullable().describe('The WAL that the source database retains for the slot.'),
  checked_at: Timestamp,
  warning: z
    .string()
    .nullable()
    .describe('Set while the slot may fill the disk of the source database, or may be lost. It says what to do.'),
})

const Snapshot = z.object({
  state: z.enum(['waiting', 'copying', 'complete']).describe('`complete`: the source reads changes.'),
  rows: z.int().describe('The number of existing rows that were read.'),
  table: z.string().nullable().describe('The table of the last row that was read; null: none, or all are complete.'),
  tables_done: z.int(),
  tables: z.int().nullable().describe('The number of tables; null: the copy has not started.'),
})

export const Source = z.object({
  id: idOutput('source'),
  name: z.string(),
  dataset: z.string(),
  conditions: Conditions,
  customer: CustomerPath,
  settings: ShownSourceSettings,
  enabled: z.boolean(),
  disabled_reason: z
    .enum(['by_hand', 'failing'])
    .nullable()
    .describe('`failing`: Postroad could not read the source for 24 hours and turned it off.'),
  disabled_at: Timestamp.nullable(),
  state: z
    .enum(['disabled', 'waiting', 'reading', 'failing'])
    .describe('`waiting`: waiting for the next run. `failing`: the last run failed, and Postroad will retry.'),
  position: z
    .unknown()
    .describe('Postroad has stored everything before this position; null: the source has not started.'),
  replication: Replication.nullable().describe(
    'Only for the kind `postgres_replication`, once its slot was looked at.',
  ),
  snapshot: Snapshot.nullable().describe(
    'The copy of the rows that existed when the source started. Null: `settings.snapshot` was false at that time.',
  ),
  next_run_at: Timestamp.nullable(),
  last_run_at: Timestamp.nullable(),
  last_event_at: Timestamp.nullable(),
  runs: z.int(),
  events: z.int().describe('The number of events that it has stored.'),
  skipped: z
    .int()
    .describe('The number of items that could not be stored because they were too large or were not JSON.'),
  failures: z.int().describe('The number of consecutive failed runs.'),
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
      'The sources of the project, newest first, with their state. Connection strings and header values are never returned.',
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
      'Reads a system that does not send webhooks and files new items into the dataset. Postroad stores events and the position in one transaction, so a crash cannot lose or repeat an event. ' +
      'If a source cannot be read, Postroad retries with increasing delays of up to 15 minutes and turns it off after 24 hours. A quota that is used up does not turn it off. It stops while the workspace is suspended and continues from its position.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      dataset: WritableDatasetName,
      conditions: Conditions.default([]),
      customer: CustomerPath.default(null),
      enabled: z.boolean().default(true),
      settings: SourceSettings,
    }),
    output: one,
  }),
  test: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'sources/test',
    summary: 'Test the settings of a source',
    description: `Connects with saved or unsaved settings, and returns the next ${LIMITS.sourceSampleRows} items. The call stores no events and does not advance the position. For \`postgres_replication\` it checks privileges, tables, publication and slot, creates nothing, and returns no items. A failure is reported in the response, not as an error status.`,
    ...WRITE,
    status: 200,
    waitsForOthers: true,
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
      'Updates only the fields that you send. `settings` are replaced as a whole, and their kind cannot change. A table source with a new server, database, cursor, key or start starts over, and so does an HTTP source with a new URL or cursor and an SSE source with a new URL. Otherwise, the source continues from its position. ' +
      'The stored secret goes only to the place that it was set for, so a change of that place, or of the encryption, needs it again. `enabled: true` also ends a pause after failures.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      dataset: WritableDatasetName.optional(),
      conditions: Conditions.optional(),
      customer: CustomerPath.optional(),
      enabled: z.boolean().optional(),
      settings: SourceSettings.optional(),
      restart: z
        .boolean()
        .optional()
        .describe(
          'true: the source resets its position and starts over as `start` says. A replication source starts with new changes, in a new slot; with `snapshot`, it copies all rows again first. A slot that you named continues from its position.',
        ),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'sources/{id}',
    summary: 'Delete a source',
    description:
      'Deletes the source and its stored secret. Its events are not deleted. The replication slot and the publication that Postroad created are dropped; `left_behind` says so when that failed.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted.extend({
      left_behind: z
        .string()
        .nullable()
        .describe('The objects that remain in the source database, and how to remove them; null: none.'),
    }),
  }),
} as const
