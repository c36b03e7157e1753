import {
  encodeId,
  LIMITS,
  SYSTEM_DATASET,
  type PortalInput,
  type PortalOutput,
  type PortalRoutes,
} from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findPublicPortal, type PublicPortalRow } from '../portals/index.ts'
import type { Guest, PortalCtx } from './access.ts'
import * as deliveries from './deliveries.ts'
import * as destinations from './destinations.ts'
import { listExposed } from './queries.ts'

export {
  identifySession,
  identifyToken,
  noteTokenUse,
  portalContext,
  type Guest,
  type PortalCtx,
  type SessionOf,
} from './access.ts'

type Verbs = {
  readonly [Name in Exclude<keyof PortalRoutes, 'branding' | 'openSession' | 'closeSession'>]: (
    ctx: PortalCtx,
    input: PortalInput<PortalRoutes[Name]>,
  ) => Promise<PortalOutput<PortalRoutes[Name]>>
}

/** The verbs of the portal API. Each reads and changes only data of the customer. */
export const portalVerbs: Verbs = {
  me: async (ctx) => {
    const { guest } = ctx
    const { event_types } = await eventTypes(ctx)
    return {
      ...presentGuest(guest),
      event_types: event_types.map(({ name }) => name),
      expires_at: ctx.accessEndsAt.toISOString(),
      suspended: guest.is_suspended,
      destinations_max: LIMITS.destinationsPerCustomerMax,
    }
  },
  eventTypes: (ctx) => eventTypes(ctx),
  listDestinations: destinations.list,
  createDestination: destinations.create,
  getDestination: destinations.get,
  updateDestination: destinations.update,
  removeDestination: destinations.remove,
  testDestination: destinations.test,
  rotateSecret: destinations.rotateSecret,
  listDeliveries: deliveries.list,
  getDelivery: deliveries.get,
  listAttempts: deliveries.listAttempts,
  getAttempt: deliveries.getAttempt,
  retryDelivery: deliveries.retry,
}

const ALERTS_TEXT = 'Alerts about your destinations: that one fails, and that it works again.'

/** The names that the portal exposes. The first event for a name creates its dataset. */
async function eventTypes(ctx: PortalCtx) {
  const names = ctx.guest.event_types
  const found = await listExposed(ctx.db, { ...ctx, names })
  if (names === null) {
    const others = found.filter(({ name }) => name !== SYSTEM_DATASET)
    return { event_types: [...others, { name: SYSTEM_DATASET, description: ALERTS_TEXT }] }
  }
  const known = new Map(found.map((dataset) => [dataset.name, dataset]))
  return { event_types: names.toSorted().map((name) => known.get(name) ?? { name, description: null }) }
}

/** The portal and the customer, as the customer sees them. */
export function presentGuest(guest: Guest) {
  return {
    portal: {
      id: encodeId('portal', guest.portal_id),
      name: guest.portal_name,
      slug: guest.portal_slug,
      branding: guest.branding,
    },
    customer: {
      id: encodeId('customer', guest.customer),
      customer_id: guest.customer_id,
      name: guest.customer_name,
    },
  }
}

/** The part of a portal that anyone who knows its address sees. */
export async function brandingOf(deps: Deps, { id }: { id: string }): Promise<PortalOutput<PortalRoutes['branding']>> {
  const row = await publicPortal(deps, id)
  if (row === undefined) throw refuse('not_found', 'There is no portal at this address. Check the link.')
  return { portal: { id: encodeId('portal', row.id), name: row.name, branding: row.branding }, enabled: row.enabled }
}

export function publicPortal({ database }: Pick<Deps, 'database'>, id: string): Promise<PublicPortalRow | undefined> {
  return findPublicPortal(database, id)
}
