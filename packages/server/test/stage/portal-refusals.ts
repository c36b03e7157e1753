import { decodeId, LIMITS } from '@postroad/contract'
import { aName, statement } from './fixtures.ts'
import type { Answer } from './harness.ts'
import { aGuest, aPortal, aPortalSession, inPortal } from './portal-stage.ts'
import { database, world } from './refusal-examples.ts'

const inAPortal = async (members: object = {}) => aGuest(world, { portal: (await aPortal(world, members)).id })
const DESTINATION = { url: 'https://hooks.example.com/' }

/** The refusals of customer portals. */
export const PORTAL_REFUSALS = {
  portal_token_required: () => inPortal(world, {}, 'GET me'),
  portal_token_expired: async () => {
    const guest = await inAPortal()
    const id = decodeId('portalToken', guest.tokenId)
    await statement(database, `update portal_tokens set expires_at = created_at where id = '${id}'`)
    return inPortal(world, guest, 'GET me')
  },
  portal_disabled: async () => inPortal(world, await inAPortal({ enabled: false }), 'GET me'),
  portal_csrf_header_missing: async () => {
    const { reads } = await aPortalSession(world, await inAPortal())
    return inPortal(world, reads, 'POST destinations', DESTINATION)
  },
  portal_customer_mismatch: async () => {
    const { portal } = await inAPortal({ serves: 'one_customer' })
    return world.admin('POST', `portals/${portal}/tokens`, { customer_id: 'another' })
  },
  portal_limit_reached: async () => {
    const { id } = (await world.admin('POST', 'projects', { name: aName('project') })).body.project
    await statement(
      database,
      `insert into portals (workspace_id, project_id, id, name, slug, branding, enabled, serves, frame_origins, created_at, updated_at)
       select workspace_id, id, gen_random_uuid(), n, n, '{}', true, 'one_customer', '{}', now(), now()
         from projects, generate_series(1, ${LIMITS.portalsPerProjectMax}) n
        where id = '${decodeId('project', id)}'`,
    )
    return world.admin('POST', `projects/${id}/portals`, { name: 'One more' })
  },
  customer_limit_reached: async () => {
    const { id } = (await world.admin('POST', 'projects', { name: aName('project') })).body.project
    const { portal } = (await world.admin('POST', `projects/${id}/portals`, { name: 'Many', serves: 'many_customers' }))
      .body
    await statement(
      database,
      `insert into portal_customers (workspace_id, project_id, id, portal_id, customer_id, created_at, updated_at)
       select workspace_id, project_id, gen_random_uuid(), id, n, now(), now()
         from portals, generate_series(1, ${LIMITS.customersPerProjectMax}) n
        where id = '${decodeId('portal', portal.id)}'`,
    )
    return world.admin('POST', `projects/${id}/portals/${portal.id}/customers`, { customer_id: 'one more' })
  },
  portal_token_limit_reached: async () => {
    const { portal, tokenId, customerId } = await inAPortal()
    await statement(
      database,
      `insert into portal_tokens (workspace_id, project_id, id, portal_id, portal_customer_id, shown_prefix, expires_at, created_at)
       select workspace_id, project_id, gen_random_uuid(), portal_id, portal_customer_id, 'hpt_', 'infinity', created_at
         from portal_tokens, generate_series(2, ${LIMITS.tokensPerCustomerMax})
        where id = '${decodeId('portalToken', tokenId)}'`,
    )
    return world.admin('POST', `portals/${portal}/tokens`, { customer_id: customerId })
  },
  portal_destination_limit_reached: async () => {
    const guest = await inAPortal()
    for (let n = 0; n < LIMITS.destinationsPerCustomerMax; n += 1)
      await inPortal(world, guest, 'POST destinations', DESTINATION)
    return inPortal(world, guest, 'POST destinations', DESTINATION)
  },
  customer_id_taken: async () => {
    const { portal, customerId } = await inAPortal()
    return world.admin('POST', `portals/${portal}/customers`, { customer_id: customerId })
  },
  event_type_not_exposed: async () =>
    inPortal(world, await inAPortal({ event_types: ['orders'] }), 'POST destinations', {
      ...DESTINATION,
      event_types: ['invoices'],
    }),
} satisfies Readonly<Record<string, () => Promise<Answer>>>
