import type { Reason } from '../errors.ts'
import type { PortalRoutes } from '../portal-api.ts'

/** Example bodies and refusals of the portal API, which customers of a portal call. */

export const PORTAL_API_BODIES: { readonly [Name in keyof PortalRoutes]?: object } = {
  createDestination: { url: 'https://erp.example.com/webhooks', event_types: ['orders'] },
  updateDestination: { enabled: false },
  rotateSecret: { overlap_hours: 24 },
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
