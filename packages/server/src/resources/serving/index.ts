import { dataKeys } from './data-keys/index.ts'
import { datasetExports } from './dataset-exports/index.ts'
import { portalCustomers } from './portal-customers/index.ts'
import { portals } from './portals/index.ts'
import { portalTokens } from './portal-tokens/index.ts'
import { search } from './search/index.ts'
import { forwarders } from './forwarders/index.ts'
import type { RoomsOf } from '../verbs.ts'

/** The rooms of this group that answer routes. A contract route without a verb does not compile. */
export const serving: RoomsOf<'serving'> = {
  dataKeys,
  datasetExports,
  forwarders,
  portals,
  portalCustomers,
  portalTokens,
  search,
}
