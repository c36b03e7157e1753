import { z } from 'zod'
import { EventOrigin } from '../../event-origin.ts'
import { ProvenState } from '../../verification-state.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DatasetName, ListQuery, listOf, Text, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'
import { RecordColumn, RecordView } from './record-views.ts'

const { recordsLimitDefault, recordsLimitMax } = LIMITS

/** As in conditions, a number in text is a plain decimal; hex and exponents are not numeric. */
const PLAIN_DECIMAL = /^[+-]?\d+(?:\.\d+)?$/

/** Contract part 4: a value that is not a positive number becomes 200, and one above 1,000 becomes 1,000; it is never a 400. */
const RecordsLimit = z
  .unknown()
  .transform((sent) => {
    const limit = PLAIN_DECIMAL.test(String(sent).trim()) ? Math.floor(Number(sent)) : Number.NaN
    return limit >= 1 ? Math.min(limit, recordsLimitMax) : recordsLimitDefault
  })
  .optional()
  .default(recordsLimitDefault)
  .describe(
    `The maximum number of rows, 1 to ${recordsLimitMax}. A value that is not a positive plain decimal counts as ${recordsLimitDefault}.`,
  )
  .meta({ type: 'integer', minimum: 1, maximum: recordsLimitMax })

/** One row of the listing: `_id`, and each column by its key. Senders choose the keys, so they are passed on unchanged. */
const RecordRow = z
  .custom<Readonly<Record<string, unknown>>>()
  .describe('`_id`, and one member for each column, by its key.')
  .meta({ type: 'object' })

/** The members of a record about the request that made it. */
export const SenderOf = {
  webhook_id: idOutput('webhook')
    .nullable()
    .describe(
      'The endpoint that received it; null: it arrived with an ingest key and no endpoint, or it has an origin.',
    ),
  origin: EventOrigin,
  verification: ProvenState,
  header_title: z
    .string()
    .nullable()
    .describe(
      'The name of the event in the headers of its request, found by `event_title` of the endpoint; its first 200 characters. null: no header contains one, or `event_title` is a path.',
    ),
}

export const RecordItem = z.object({
  id: idOutput('record').describe('The event id, the same on every delivery, retry and replay.'),
  dataset: z.string(),
  submission_id: idOutput('submission'),
  received_at: Timestamp,
  ...SenderOf,
  data: z.unknown(),
})

export const records = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'records',
    summary: 'List records',
    description: 'The records (events) of the project, newest first, of one dataset or of all.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      dataset: DatasetName.optional().describe('Only records of this dataset.'),
      ...TimeRange,
    }),
    output: listOf('records', RecordItem),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'records/{id}',
    summary: 'Get a record',
    description: 'One record. `data_text` is its payload byte for byte, for numbers that JSON parsers round.',
    ...READ,
    status: 200,
    params: z.object({ id: idInput('record') }),
    output: z.object({ record: RecordItem.extend({ data_text: z.string() }) }),
  }),
  listOfWebhook: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}/records',
    summary: 'List the records of an endpoint as a table',
    description:
      'Without a view, each row has `_id`, `_received_at`, `_source` (`endpoint_url` or `ingest_key`) and the whole flattened payload, ' +
      'newest first; `columns` are the keys found in the payloads. With a view, each row has `_id` and exactly the columns of the view ' +
      '(a missing key is null). The view sorts every retained record of the endpoint: numbers (including plain decimals in text), then other text, ' +
      'then booleans, then missing values; equal values are sorted newest first. Text is compared by its first 1,024 characters. ' +
      'A column is a dot path: `\\.` is a dot in a key, `\\\\` a backslash, and `\\_id`, `\\_received_at` and `\\_source` are top-level keys ' +
      'of the payload itself. A payload that is neither an object nor a list is the column `value`. ' +
      'The response has limits, and `sorted_since`, `columns_complete` and `left_out` report when one of them applied.',
    ...READ,
    status: 200,
    params: z.object({ id: idInput('webhook') }),
    query: z.object({
      view: Text.optional().describe('The id of a record view of this endpoint.'),
      limit: RecordsLimit,
    }),
    output: z.object({
      webhook_id: idOutput('webhook'),
      view: RecordView.nullable(),
      columns: z.array(RecordColumn).describe('The columns of the view, or all discovered keys.'),
      available_columns: z
        .array(RecordColumn)
        .describe(
          'All keys discovered in the retained records, also with a view. The keys of the newest rows come first.',
        ),
      rows: z.array(RecordRow),
      count: z.int().describe('The number of rows.'),
      sorted_since: Timestamp.nullable().describe(
        `null: the order covers every retained record. Otherwise the sort used up its ${LIMITS.recordsSortMs / 1_000} s, and rows has only records received since then.`,
      ),
      columns_complete: z
        .boolean()
        .describe(
          'false: available_columns lacks keys. One call reads a bounded number of records, and the next call continues. ' +
            'More than about 1 MiB of distinct keys are never listed.',
        ),
      left_out: z
        .array(z.string())
        .describe(
          'Ids of records that belong in rows but would make the response longer than 4 Mi characters, or the payloads read for it larger than 8 MiB. GET records/{id} returns each.',
        ),
    }),
  }),
} as const
