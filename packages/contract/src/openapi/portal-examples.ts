import type { Reason } from '../errors.ts'
import type { PortalRoutes } from '../portal-api.ts'
import type { BodyExamples } from './body-examples.ts'
import { exampleId } from './example-id.ts'

/** Examples of customer portals, and the refusals of the portal API. */

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
const CUSTOMER = { id: exampleId('customer'), customer_id: 'acme-42', name: 'Acme Inc.' }

export const PORTAL_BODIES = {
  portals: {
    create: {
      name: 'Webhooks',
      event_types: ['orders'],
      branding: { name: 'Acme Webhooks', accent: '#0a7d5a' },
      serves: 'many_customers',
      frame_origins: ['https://app.example.com'],
    },
    update: { enabled: false },
  },
  portalCustomers: {
    create: { customer_id: 'acme-42', name: 'Acme Inc.' },
    update: { name: 'Acme Inc.' },
  },
  portalTokens: { create: { customer_id: 'acme-42', customer_name: 'Acme Inc.', expires_in: 3_600 } },
} satisfies BodyExamples

export const PORTAL_API_BODIES: { readonly [Name in keyof PortalRoutes]?: object } = {
  createDestination: { url: 'https://erp.example.com/webhooks', event_types: ['orders'] },
  updateDestination: { enabled: false },
  rotateSecret: { overlap_hours: 24 },
}

export const PORTAL_MEMBERS: Readonly<Record<string, unknown>> = {
  'Portal.name': 'Webhooks',
  'Portal.slug': 'webhooks',
  'Portal.event_types': '["orders"]',
  'Portal.branding': JSON.stringify(LOOKS),
  'Portal.enabled': 1,
  'Portal.datasets': ['orders'],
  'Portal.looks': LOOKS,
  'Portal.serves': 'many_customers',
  'Portal.frame_origins': ['https://app.example.com'],
  'Portal.url': `https://hooks.example.com/portal/${exampleId('portal')}`,
  'PortalCustomer.customer_id': 'acme-42',
  'PortalCustomer.name': 'Acme Inc.',
  'PortalToken.customer': CUSTOMER,
  'PortalToken.shown_prefix': 'hpt_1a2b3c4d',
  'PortalToken.status': 'active',
  'PortalDestination.url': 'https://erp.example.com/webhooks',
  'PortalDestination.event_types': ['orders'],
  'PortalDestination.last_24_hours': { succeeded: 1_204, failed: 3 },
  'PortalDelivery.dataset': 'orders',
  'PortalDelivery.status': 'retrying',
  'PortalDelivery.attempts': 1,
  'PortalDelivery.response_status': 503,
  'PortalDelivery.error_code': 'bad_status',
  'PortalBranding.name': 'Acme Webhooks',
  'PortalAccess.event_types': ['orders'],
  'PortalEventType.name': 'orders',
  'ShownPortal.name': 'Webhooks',
  'ShownPortal.slug': 'webhooks',
  'ShownPortal.branding': LOOKS,
  'PublicPortal.name': 'Webhooks',
  'PublicPortal.branding': LOOKS,
  'ShownCustomer.customer_id': 'acme-42',
}

const OF_EVERY_ROUTE = [
  'portal_token_required',
  'portal_token_expired',
  'portal_disabled',
  'rate_limited',
  'work_limited',
  'portal_customer_mismatch',
  'workspace_closed',
] as const satisfies readonly Reason[]
const OF_EVERY_CHANGE = [
  'invalid_request',
  'portal_csrf_header_missing',
  'workspace_suspended',
  'payload_too_large',
] as const
const BY_ID = ['not_found'] as const

/** Every reason for which a route of the portal API refuses a request, except failures of the server itself. */
export const PORTAL_REASONS: { readonly [Name in keyof PortalRoutes]: readonly Reason[] } = {
  branding: BY_ID,
  openSession: [...OF_EVERY_ROUTE, 'invalid_request', 'payload_too_large'],
  closeSession: ['payload_too_large'],
  me: OF_EVERY_ROUTE,
  eventTypes: OF_EVERY_ROUTE,
  listDestinations: OF_EVERY_ROUTE,
  createDestination: [
    ...OF_EVERY_ROUTE,
    ...OF_EVERY_CHANGE,
    'invalid_url',
    'event_type_not_exposed',
    'portal_destination_limit_reached',
  ],
  getDestination: [...OF_EVERY_ROUTE, ...BY_ID],
  updateDestination: [...OF_EVERY_ROUTE, ...OF_EVERY_CHANGE, ...BY_ID, 'invalid_url', 'event_type_not_exposed'],
  removeDestination: [...OF_EVERY_ROUTE, ...OF_EVERY_CHANGE, ...BY_ID],
  testDestination: [...OF_EVERY_ROUTE, ...OF_EVERY_CHANGE, ...BY_ID],
  rotateSecret: [...OF_EVERY_ROUTE, ...OF_EVERY_CHANGE, ...BY_ID, 'overlap_running'],
  listDeliveries: [...OF_EVERY_ROUTE, 'invalid_request'],
  getDelivery: [...OF_EVERY_ROUTE, ...BY_ID],
  listAttempts: [...OF_EVERY_ROUTE, ...BY_ID],
  getAttempt: [...OF_EVERY_ROUTE, ...BY_ID],
  retryDelivery: [...OF_EVERY_ROUTE, ...OF_EVERY_CHANGE, ...BY_ID, 'invalid_state', 'delivery_allowance_exhausted'],
}
