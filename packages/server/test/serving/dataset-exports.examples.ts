import { aDatasetIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('datasetExports', {
  ndjson: aDatasetIn,
  csv: aDatasetIn,
  parquet: aDatasetIn,
})
