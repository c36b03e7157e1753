import { aDatasetIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('datasetSchemas', {
  get: aDatasetIn,
})
