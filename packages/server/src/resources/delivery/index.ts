import { attempts } from './attempts/index.ts'
import { deliveries } from './deliveries/index.ts'
import { deliveryHolds } from './delivery-holds/index.ts'
import { destinationPresets } from './destination-presets/index.ts'
import { destinationPreviews } from './destination-previews/index.ts'
import { destinationSinks } from './destination-sinks/index.ts'
import { destinations } from './destinations/index.ts'
import { replays } from './replays/index.ts'
import { transforms } from './transforms/index.ts'
import type { RoomsOf } from '../verbs.ts'

/** The rooms of this group that answer routes. A contract route without a verb does not compile. */
export const delivery: RoomsOf<'delivery'> = {
  attempts,
  deliveries,
  deliveryHolds,
  destinationPresets,
  destinationPreviews,
  destinationSinks,
  destinations,
  replays,
  transforms,
}
