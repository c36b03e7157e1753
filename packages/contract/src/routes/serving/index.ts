import { dataKeys } from './data-keys.ts'
import { datasetExports } from './dataset-exports.ts'
import { search } from './search.ts'

/** Reads of stored events, and the keys for them. */
export const serving = { dataKeys, datasetExports, search } as const
