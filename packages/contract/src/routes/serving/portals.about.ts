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
import { exampleId } from '../../openapi/example-id.ts'

const LOOKS = {
  name: 'Acme Webhooks',
  logo: 'https://cdn.example.com/logo.svg',
  logo_dark: null,
  accent: '#0a7d5a',
  mode: 'auto',
  radius: 8,
  font: 'system',
  support_url: 'mailto:support@example.com',
  return_url: 'https://app.example.com/settings',
  powered_by: true,
} as const

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
  bodies: {
    create: {
      name: 'Webhooks',
      event_types: ['orders'],
      branding: { name: 'Acme Webhooks', accent: '#0a7d5a' },
      serves: 'many_customers',
      frame_origins: ['https://app.example.com'],
    },
    update: { enabled: false },
  },
  members: {
    Portal: {
      name: 'Webhooks',
      slug: 'webhooks',
      event_types: '["orders"]',
      branding: JSON.stringify(LOOKS),
      enabled: 1,
      datasets: ['orders'],
      looks: LOOKS,
      serves: 'many_customers',
      frame_origins: ['https://app.example.com'],
      url: `https://hooks.example.com/portal/${exampleId('portal')}`,
    },
    PortalDestination: {
      url: 'https://erp.example.com/webhooks',
      event_types: ['orders'],
      last_24_hours: { succeeded: 1_204, failed: 3 },
    },
    PortalDelivery: {
      dataset: 'orders',
      status: 'retrying',
      attempts: 1,
      response_status: 503,
      error_code: 'bad_status',
    },
    PortalBranding: { name: 'Acme Webhooks' },
    PortalAccess: { event_types: ['orders'] },
    PortalEventType: { name: 'orders' },
    ShownPortal: { name: 'Webhooks', slug: 'webhooks', branding: LOOKS },
    PublicPortal: { name: 'Webhooks', branding: LOOKS },
    ShownCustomer: { customer_id: 'acme-42' },
  },
} satisfies About<typeof portals>
