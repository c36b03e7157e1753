import { dataKeys } from './data-keys.ts'
import { datasetExports } from './dataset-exports.ts'
import { forwarders } from './forwarders.ts'
import { portalCustomers } from './portal-customers.ts'
import { portals } from './portals.ts'
import { portalTokens } from './portal-tokens.ts'
import { search } from './search.ts'

/** Reads of stored events, the keys for these reads, forwarders to other systems, and the portals of customers. */
export const serving = {
  dataKeys,
  datasetExports,
  forwarders,
  portals,
  portalCustomers,
  portalTokens,
  search,
} as const
