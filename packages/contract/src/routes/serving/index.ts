import { dataKeys } from './data-keys.ts'
import { about as aboutDataKeys } from './data-keys.about.ts'
import { datasetExports } from './dataset-exports.ts'
import { about as aboutDatasetExports } from './dataset-exports.about.ts'
import { forwarders } from './forwarders.ts'
import { about as aboutForwarders } from './forwarders.about.ts'
import { portalCustomers } from './portal-customers.ts'
import { about as aboutPortalCustomers } from './portal-customers.about.ts'
import { portals } from './portals.ts'
import { about as aboutPortals } from './portals.about.ts'
import { portalTokens } from './portal-tokens.ts'
import { about as aboutPortalTokens } from './portal-tokens.about.ts'
import { search } from './search.ts'
import { about as aboutSearch } from './search.about.ts'
import type { AboutRooms } from '../../about.ts'

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

export const servingAbout = {
  dataKeys: aboutDataKeys,
  datasetExports: aboutDatasetExports,
  forwarders: aboutForwarders,
  portals: aboutPortals,
  portalCustomers: aboutPortalCustomers,
  portalTokens: aboutPortalTokens,
  search: aboutSearch,
} satisfies AboutRooms<typeof serving>
