import { attempts } from './attempts.ts'
import { about as aboutAttempts } from './attempts.about.ts'
import { deliveries } from './deliveries.ts'
import { about as aboutDeliveries } from './deliveries.about.ts'
import { deliveryHolds } from './delivery-holds.ts'
import { about as aboutDeliveryHolds } from './delivery-holds.about.ts'
import { destinationPresets } from './destination-presets.ts'
import { about as aboutDestinationPresets } from './destination-presets.about.ts'
import { destinationPreviews } from './destination-previews.ts'
import { about as aboutDestinationPreviews } from './destination-previews.about.ts'
import { destinationSinks } from './destination-sinks.ts'
import { about as aboutDestinationSinks } from './destination-sinks.about.ts'
import { destinations } from './destinations.ts'
import { about as aboutDestinations } from './destinations.about.ts'
import { replays } from './replays.ts'
import { about as aboutReplays } from './replays.about.ts'
import { transforms } from './transforms.ts'
import { about as aboutTransforms } from './transforms.about.ts'
import type { AboutRooms } from '../../about.ts'

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
  transforms,
} as const

export const deliveryAbout = {
  attempts: aboutAttempts,
  deliveries: aboutDeliveries,
  deliveryHolds: aboutDeliveryHolds,
  destinationPresets: aboutDestinationPresets,
  destinationPreviews: aboutDestinationPreviews,
  destinationSinks: aboutDestinationSinks,
  destinations: aboutDestinations,
  replays: aboutReplays,
  transforms: aboutTransforms,
} satisfies AboutRooms<typeof delivery>
