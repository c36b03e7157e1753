import { attempts } from './attempts.ts'
import { deliveries } from './deliveries.ts'
import { deliveryHolds } from './delivery-holds.ts'
import { destinationPresets } from './destination-presets.ts'
import { destinationPreviews } from './destination-previews.ts'
import { destinationSinks } from './destination-sinks.ts'
import { destinations } from './destinations.ts'
import { replays } from './replays.ts'

/** Outgoing events: destinations, deliveries and replays. */
export const delivery = {
  attempts,
  deliveries,
  deliveryHolds,
  destinationPresets,
  destinationPreviews,
  destinationSinks,
  destinations,
  replays,
} as const
