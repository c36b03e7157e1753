import type { About } from '../../about.ts'
import { type portals, Portal } from './portals.ts'
import {
  PortalAccess,
  PortalDelivery,
  PortalDestination,
  PortalEventType,
  PublicPortal,
  ShownCustomer,
  ShownPortal,
} from '../../portal-api.ts'
import { PortalBranding } from '../../portal-settings.ts'

export const about = {
  text: 'Customer portals, where your customers manage their own destinations.',
  refusals: {
    create: ['slug_taken', 'portal_limit_reached'],
    update: ['slug_taken', 'invalid_state'],
    remove: ['invalid_state'],
  },
  schemas: {
    Portal,
    PortalAccess,
    PortalBranding,
    PortalDelivery,
    PortalDestination,
    PortalEventType,
    PublicPortal,
    ShownCustomer,
    ShownPortal,
  },
} satisfies About<typeof portals>
