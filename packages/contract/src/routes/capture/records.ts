import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DatasetName, ListQuery, listOf, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'
import { RecordColumn, RecordView } from './record-views.ts'

const { recordsLimitDefault, recordsLimitMax } = LIMITS

/** As in conditions: a number in text is a plain decimal; hex and exponents are not numeric. */
const PLAIN_DECIMAL = /^[+-]?\d+(?:\.\d+)?$/

/** Contract part 4: what is no positive number falls back to 200, what is above 1,000 is 1,000; never a 400. */
const RecordsLimit = z
  .unknown()
  .transform((sent) => {
    const limit = PLAIN_DECIMAL.test(String(sent).trim()) ? Math.floor(Number(sent)) : Number.NaN
    return limit >= 1 ? Math.min(limit, recordsLimitMax) : recordsLimitDefault
  })
  .optional()
  .default(recordsLimitDefault)
  .describe(
    `How many at most: 1 to ${recordsLimitMax}. What is no positive plain decimal counts as ${recordsLimitDefault}.`,
  )
  .meta({ type: 'integer', minimum: 1, maximum: recordsLimitMax })

/** One row of the listing: `_id` and the columns by key. Its keys are the sender's, so they are passed on as they are. */
const RecordRow = z
  .custom<Readonly<Record<string, unknown>>>()
  .describe('`_id` and one member for each column, by key.')
  .meta({ type: 'object' })

/** What a record shows of the request that it came with. */
export const SenderOf = {
  webhook_id: idOutput('webhook')
    .nullable()
    .describe('The endpoint that received it; null: it came with an ingest key alone.'),
  header_title: z
    .string()
    .nullable()
    .describe(
      'What the headers of the request call the event, by `event_title` of the endpoint; its first 200 characters. null: they do not name it, or a path of the event does.',
    ),
}

export const RecordItem = z.object({
  id: idOutput('record').describe('The event id: the same on every delivery, retry and replay.'),
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
    query: ListQuery.extend({ dataset: DatasetName.optional().describe('Only those of this dataset.'), ...TimeRange }),
    output: listOf('records', RecordItem),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'records/{id}',
    summary: 'Get a record',
    description: 'One record. `data_text` is its payload byte for byte, for numbers that JSON readers round.',
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
      'Without a view each row has `_id`, `_received_at`, `_source` (`endpoint_url` or `ingest_key`) and the whole flattened payload, ' +
      'newest first; `columns` are the keys found in the payloads. With a view each row has `_id` and exactly the columns of the view ' +
      '(a missing key is null). The view sorts every retained record of the endpoint: numbers (also plain decimals in text) before other text ' +
      'before booleans, missing values last, equal values newest first; text is compared by its first 1,024 characters. ' +
      'A column is a dot path: `\\.` is a dot in a key, `\\\\` a backslash, and `\\_id`, `\\_received_at` and `\\_source` are top-level keys ' +
      'of the payload itself. A payload that is neither an object nor a list is the column `value`. ' +
      'The answer has bounds, and `sorted_since`, `columns_complete` and `left_out` report when one of them applied.',
    ...READ,
    status: 200,
    params: z.object({ id: idInput('webhook') }),
    query: z.object({
      view: z.string().optional().describe('The id of a record view of this endpoint.'),
      limit: RecordsLimit,
    }),
    output: z.object({
      webhook_id: idOutput('webhook'),
      view: RecordView.nullable(),
      columns: z.array(RecordColumn).describe('Those of the view, else all discovered keys.'),
      available_columns: z
        .array(RecordColumn)
        .describe('All keys discovered in the retained records, with a view too; those of the newest rows come first.'),
      rows: z.array(RecordRow),
      count: z.int().describe('How many rows there are.'),
      sorted_since: Timestamp.nullable().describe(
        `null: the order covers every retained record. Otherwise the sort used up its ${LIMITS.recordsSortMs / 1_000} s, and rows has only records received since then.`,
      ),
      columns_complete: z
        .boolean()
        .describe(
          'false: available_columns lacks keys. One call reads a bounded number of records and the next call continues; ' +
            'more than about 1 MiB of distinct keys are never listed.',
        ),
      left_out: z
        .array(z.string())
        .describe(
          'Ids of records that belong in rows but would take the answer beyond 16 Mi characters, or the payloads read for it beyond 64 MiB. GET records/{id} has each.',
        ),
    }),
  }),
} as const
