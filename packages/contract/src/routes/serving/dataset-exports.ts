import { z } from 'zod'
import { ByteChunks, Chunks } from '../../chunks.ts'
import { ColumnPaths, DATA_FORMATS } from '../../data-api.ts'
import { idInput } from '../../ids.ts'
import { TimeRange } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'

const at = z.object({ id: idInput('dataset') })
const REACH =
  'The export contains the stored records, oldest first, and can have any length. If the export is interrupted, its last chunk is missing.'

export const datasetExports = {
  ndjson: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'datasets/{id}/export/ndjson',
    summary: 'Export a dataset as NDJSON',
    description: `One record per line, in the format of a delivery, with its payload as received. ${REACH}`,
    ...READ,
    status: 200,
    download: { type: DATA_FORMATS.ndjson, name: 'records.ndjson' },
    params: at,
    query: z.object(TimeRange),
    output: Chunks,
  }),
  csv: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'datasets/{id}/export/csv',
    summary: 'Export a dataset as CSV',
    description: `\`_id\`, \`_received_at\` and the columns (RFC 4180). Cells that look like formulas get a leading apostrophe. ${REACH}`,
    ...READ,
    status: 200,
    download: { type: 'text/csv; charset=utf-8', name: 'records.csv' },
    params: at,
    query: z.object({ ...TimeRange, columns: ColumnPaths }),
    output: Chunks,
  }),
  parquet: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'datasets/{id}/export/parquet',
    summary: 'Export a dataset as Parquet',
    description: `\`_id\`, \`_received_at\`, \`_data\` with the payload as received, and the columns with the types of the schema. A value of another type than its column is null there; \`_data\` has it. ${REACH}`,
    ...READ,
    status: 200,
    download: { type: DATA_FORMATS.parquet, name: 'records.parquet', bytes: true },
    params: at,
    query: z.object({ ...TimeRange, columns: ColumnPaths }),
    output: ByteChunks,
  }),
} as const
