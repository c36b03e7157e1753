import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { Refusal, refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { listDestinations, removeDestination } from '../../delivery/destinations/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged, lockProject } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { findPortal, type PortalRow } from '../portals/index.ts'
import {
  countCustomers,
  deleteCustomer,
  findCustomer,
  insertCustomer,
  listCustomers,
  updateCustomer,
  type CustomerRow,
} from './queries.ts'

export { findCustomer, type CustomerRow } from './queries.ts'

const present = (row: CustomerRow) => ({
  id: encodeId('customer', row.id),
  portal_id: encodeId('portal', row.portal_id),
  customer_id: row.customer_id,
  name: row.name,
  destination_count: row.destination_count,
  token_count: row.token_count,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** The place and the time of statements about the customers of a portal. */
const within = (ctx: Ctx, portalId: string) => ({
  workspaceId: ctx.workspaceId,
  projectId: ctx.projectId,
  portalId,
  now: new Date(ctx.clock.now()),
})

async function portalOf(ctx: Ctx, at: { id: string; lock?: boolean }): Promise<PortalRow> {
  const portal = await findPortal(ctx.db, { ...ctx, ...at })
  if (portal === undefined) throw refuse('not_found')
  return portal
}

async function named(ctx: Ctx, at: { portalId: string; customerId: string }): Promise<CustomerRow | undefined> {
  const asked = { ...within(ctx, at.portalId), customerId: at.customerId, before: null, limit: 1 }
  return (await listCustomers(ctx.db, asked))[0]
}

export const portalCustomers: Room<'portalCustomers'> = {
  list: async (ctx, { id, limit, cursor, customer_id }) => {
    await portalOf(ctx, { id })
    const asked = { customerId: customer_id ?? null, before: afterCursor(cursor), limit: limit + 1 }
    const { rows, next_cursor } = pageOf(await listCustomers(ctx.db, { ...within(ctx, id), ...asked }), limit)
    return { customers: rows.map(present), next_cursor }
  },

  create: (ctx, { id, ...asked }) =>
    inTransaction(ctx, async (tx) => {
      const portal = await portalOf(tx, { id, lock: true })
      if ((await named(tx, { portalId: id, customerId: asked.customer_id })) !== undefined)
        throw refuse('customer_id_taken')
      return { customer: present(await addCustomer(tx, portal, asked)) }
    }),

  get: async (ctx, { id, customer }) => {
    const row = await findCustomer(ctx.db, { ...within(ctx, id), id: customer })
    if (row === undefined) throw refuse('not_found')
    return { customer: present(row) }
  },

  update: (ctx, { id, customer, ...given }) =>
    inTransaction(ctx, async (tx) => {
      await portalOf(tx, { id, lock: true })
      const held = await findCustomer(tx.db, { ...within(tx, id), id: customer, lock: true })
      if (held === undefined) throw refuse('not_found')
      const renamed = given.customer_id !== undefined && given.customer_id !== held.customer_id
      if (renamed && (await named(tx, { portalId: id, customerId: given.customer_id ?? '' })) !== undefined)
        throw refuse('customer_id_taken')
      const row = await updateCustomer(tx.db, {
        ...within(tx, id),
        id: customer,
        customer_id: given.customer_id ?? held.customer_id,
        name: given.name === undefined ? held.name : given.name,
      })
      await audit(tx, {
        action: 'update_portal_customer',
        target: encodeId('customer', customer),
        details: { changed: Object.keys(given) },
        change: { before: present(held), after: present(row) },
      })
      // Other events name the customer now.
      if (renamed) await configChanged(tx)
      return { customer: present(row) }
    }),

  remove: (ctx, { id, customer }) =>
    inTransaction(ctx, async (tx) => {
      await portalOf(tx, { id, lock: true })
      const held = await findCustomer(tx.db, { ...within(tx, id), id: customer, lock: true })
      if (held === undefined) throw refuse('not_found')
      const owned = await listDestinations(tx.db, { ...tx, before: null, limit: held.destination_count, owner: held })
      // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
      for (const destination of owned) await removeDestination(tx, destination.id)
      await deleteCustomer(tx.db, { ...within(tx, id), id: customer })
      await audit(tx, {
        action: 'delete_portal_customer',
        target: encodeId('customer', customer),
        details: { customer_id: held.customer_id, destinations: owned.length },
        change: { before: present(held), after: null },
      })
      return { ok: true }
    }),
}

type Asked = { readonly customer_id: string; readonly name: string | null }

/** The customer of a portal with this id, added if the portal has none. The caller has locked the portal. */
export async function customerFor(tx: Ctx, portal: PortalRow, asked: Asked): Promise<CustomerRow> {
  return (await named(tx, { portalId: portal.id, customerId: asked.customer_id })) ?? addCustomer(tx, portal, asked)
}

async function addCustomer(tx: Ctx, portal: PortalRow, { customer_id, name }: Asked): Promise<CustomerRow> {
  const [other] =
    portal.serves === 'one_customer'
      ? await listCustomers(tx.db, { ...within(tx, portal.id), customerId: null, before: null, limit: 1 })
      : []
  if (other !== undefined) throw mismatch(other)
  await lockProject(tx.db, tx)
  if ((await countCustomers(tx.db, tx)) >= LIMITS.customersPerProjectMax) throw refuse('customer_limit_reached')
  const row = await insertCustomer(tx.db, { ...within(tx, portal.id), id: tx.uuid(), customer_id, name })
  await audit(tx, {
    action: 'create_portal_customer',
    target: encodeId('customer', row.id),
    details: { portal: encodeId('portal', portal.id), customer_id },
    change: { before: null, after: present(row) },
  })
  return row
}

/** Contract part 4: the refusal names the customer that is served. */
export function mismatch({ customer_id, name }: Pick<CustomerRow, 'customer_id' | 'name'>): Refusal {
  return new Refusal('portal_customer_mismatch', { fields: { customer_id, customer_name: name } })
}
