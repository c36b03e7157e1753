import { DATA_FORMATS, DataDatasets, DataPage, DataQuery, DataRecord } from '@postroad/contract'
import { DATA_REASONS, EXAMPLE_TIME, exampleId } from '@postroad/contract/openapi'
import { z } from 'zod'
import { refusedAnswers } from './refused.ts'
import type { Json, Schemas } from './schemas.ts'

/** The operations of the Data API, with the key of a program and responses in several formats. */

/** The schemas that this part of the document needs, by their key in `convert`. */
export const DATA_SENT = { 'data.listRecords:query': DataQuery }
export const DATA_SHOWN = {
  'data.listDatasets:output': DataDatasets,
  'data.listRecords:output': DataPage,
  'data.getRecord:output': z.object({ record: DataRecord }),
}

const text = { type: 'string' }
const inPath = (name: string, description: string, example: string): Json => ({
  name,
  in: 'path',
  required: true,
  description,
  example,
  schema: text,
})
const DATASET = inPath('dataset', 'The name of the dataset.', 'orders')
const FORMAT: Json = {
  name: 'format',
  in: 'query',
  required: false,
  description: 'The format of the response, for clients that cannot set Accept. It has precedence over Accept.',
  schema: { type: 'string', enum: Object.keys(DATA_FORMATS) },
}
const TAG: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of an earlier response: an unchanged one is answered with 304.',
  schema: text,
}

const RECORD = {
  id: exampleId('record'),
  dataset: 'orders',
  received_at: EXAMPLE_TIME,
  data: { type: 'order.created', total: 42.5 },
}
const PAGE = { records: [RECORD], next_cursor: null, resume_cursor: null, reached: null }

type Operation = {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Json[]
  readonly content: Json
  readonly without?: readonly (typeof DATA_REASONS)[number][]
}

function read({ id, summary, description, parameters, content, without = [] }: Operation): { readonly get: Json } {
  return {
    get: {
      operationId: id,
      tags: ['data'],
      summary,
      description,
      security: [{ data_key: [] }],
      parameters: [...parameters, TAG],
      responses: {
        200: { description: 'The operation succeeded.', content },
        304: { description: 'Nothing has changed since the response with this ETag.' },
        ...refusedAnswers(DATA_REASONS.filter((reason) => !without.includes(reason))),
      },
    },
  }
}

/** `query`: the query parameters of a page of records. */
export function dataPaths(schemas: Schemas, query: readonly Json[]): Readonly<Record<string, Json>> {
  const json = (id: string, example: Json): Json => ({
    'application/json': { schema: schemas.of(`data.${id}:output`), example },
  })
  return {
    '/v1/data': read({
      id: 'data.listDatasets',
      summary: 'List the datasets that a Data API key can read',
      description: 'All datasets by name.',
      parameters: [],
      content: json('listDatasets', {
        datasets: [{ name: 'orders', description: 'Orders of the shop', last_record_at: EXAMPLE_TIME }],
      }),
      without: ['invalid_request', 'dataset_not_allowed', 'not_found', 'not_acceptable'],
    }),
    '/v1/data/{dataset}': read({
      id: 'data.listRecords',
      summary: 'Read the records of a dataset',
      description:
        'Accept selects JSON, NDJSON, CSV or Parquet; gzip is supported. The header Link has the address of the next page. With NDJSON, CSV and Parquet, the headers Next-Cursor and Resume-Cursor have the cursors.',
      parameters: [DATASET, ...query, FORMAT],
      content: {
        ...json('listRecords', PAGE),
        [DATA_FORMATS.ndjson]: { schema: text, example: `${JSON.stringify(RECORD)}\n` },
        [DATA_FORMATS.csv]: { schema: text, example: `"_id","_received_at","total"\r\n` },
        [DATA_FORMATS.parquet]: { schema: { type: 'string', format: 'binary' } },
      },
    }),
    '/v1/data/{dataset}/{record_id}': read({
      id: 'data.getRecord',
      summary: 'Read one record',
      description: 'The record in the same form as in a delivery, with its payload as received.',
      parameters: [DATASET, inPath('record_id', 'The id of the record.', exampleId('record'))],
      content: json('getRecord', { record: RECORD }),
      without: ['invalid_request', 'not_acceptable'],
    }),
  }
}
