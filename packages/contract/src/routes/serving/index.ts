import { dataKeys } from './data-keys.ts'
import { datasetExports } from './dataset-exports.ts'
import { forwarders } from './forwarders.ts'
import { search } from './search.ts'

/** Reads of stored events, the keys for them, and their way to other systems. */
export const serving = { dataKeys, datasetExports, forwarders, search } as const
