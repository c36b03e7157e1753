import { z } from 'zod'
import { PayloadConditions } from './condition-query.ts'
import { pathProblem } from './dot-path.ts'
import { LIMITS } from './limits.ts'
import { Instant, Text, Timestamp } from './list.ts'

/** The media types of the Data API, by the name that `format` takes. */
export const DATA_FORMATS = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
} as const
export type DataFormat = keyof typeof DATA_FORMATS

export const DATA_ORDERS = ['desc', 'asc'] as const

export const CURSOR_CHARS_MAX = 16_384

/** Dot paths, separated by commas. */
export const ColumnPaths = Text.max(LIMITS.dataColumnsCharsMax)
  .optional()
  .transform((sent, context) => {
    if (sent === undefined) return undefined
    const paths = sent.split(',').map((path) => path.trim())
    const problem = paths.map(pathProblem).find((found) => found !== undefined)
    if (problem !== undefined || paths.length > LIMITS.dataColumnsMax) {
      const message = problem ?? `Name at most ${LIMITS.dataColumnsMax} columns.`
      context.issues.push({ code: 'custom', input: sent, message })
      return z.NEVER
    }
    return paths
  })
  .describe(
    'For CSV and Parquet: the columns behind the fixed ones, as dot paths separated by commas. Absent: the fields of the schema of the dataset.',
  )

/** The query of `GET /v1/data/{dataset}`. */
export const DataQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.dataPageMax)
    .default(LIMITS.dataPageDefault)
    .describe(`The maximum number of records, 1 to ${LIMITS.dataPageMax}.`),
  cursor: z.string().max(CURSOR_CHARS_MAX).optional().describe('`next_cursor` or `resume_cursor` of an earlier page.'),
  order: z
    .enum(DATA_ORDERS)
    .default('desc')
    .describe(
      '`desc`: newest first. `asc`: in the order in which to copy records: a cursor of it never skips a record, also when the record is committed later than one with a higher id.',
    ),
  since: Instant.optional().describe('RFC 3339: only records that were received at this time or later.'),
  until: Instant.optional().describe('RFC 3339: only records that were received before this time.'),
  f: PayloadConditions,
  columns: ColumnPaths,
})

/** One record, in the form in which it is delivered. */
export const DataRecord = z.object({
  id: z.string(),
  dataset: z.string(),
  received_at: Timestamp,
  data: z.unknown(),
})

/** The JSON of a page. The other formats have its cursors in the headers Next-Cursor and Resume-Cursor. */
export const DataPage = z.object({
  records: z.array(DataRecord),
  next_cursor: z.string().nullable().describe('null: there is no further page now.'),
  resume_cursor: z
    .string()
    .nullable()
    .describe(
      'With order=asc: the cursor from which to read what comes after this page, today or later. null with order=desc, and at the end of a range that `until` closes.',
    ),
  reached: Timestamp.nullable().describe(
    'Everything up to this record was looked at. A page may be empty before the end, because one call does a bounded amount of work. null: everything was looked at.',
  ),
})

export const DataDatasets = z.object({
  datasets: z.array(
    z.object({ name: z.string(), description: z.string().nullable(), last_record_at: Timestamp.nullable() }),
  ),
})
