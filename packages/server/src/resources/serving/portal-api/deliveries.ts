import type { PortalInput, PortalOutput, PortalRoutes, RouteOutput, Routes } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { attempts } from '../../delivery/attempts/index.ts'
import {
  deliveries,
  findAttempt,
  findDelivery,
  listDeliveries,
  presentDeliveries,
  type DeliveryRow,
} from '../../delivery/deliveries/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { PortalCtx } from './access.ts'
import { ownDestination, ownDestinations } from './destinations.ts'

type Verb<Name extends keyof PortalRoutes> = (
  ctx: PortalCtx,
  input: PortalInput<PortalRoutes[Name]>,
) => Promise<PortalOutput<PortalRoutes[Name]>>

type Presented = RouteOutput<Routes['deliveries']['retry']>['delivery']

const shown = (delivery: Presented) => ({
  id: delivery.id,
  event_id: delivery.record_id,
  dataset: delivery.dataset,
  destination_id: delivery.destination_id,
  status: delivery.state,
  pause_reason: delivery.pause_reason,
  attempts: delivery.attempt_count,
  response_status: delivery.last_status,
  error_code: delivery.last_error,
  created_at: delivery.created_at,
  next_attempt_at: delivery.next_attempt_at,
  held_by: delivery.held_by,
})

/** The delivery, if it goes to a destination of the customer. */
async function ownDelivery(ctx: PortalCtx, id: string): Promise<DeliveryRow> {
  const row = await findDelivery(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  await ownDestination(ctx, row.destination_id)
  return row
}

export const list: Verb<'listDeliveries'> = async (ctx, { limit, cursor, status, destination_id }) => {
  const own = (await ownDestinations(ctx)).map(({ id }) => id)
  const found = await listDeliveries(ctx.db, {
    workspaceId: ctx.workspaceId,
    projectId: ctx.projectId,
    state: status ?? null,
    destinationId: null,
    destinationIds: destination_id === undefined ? own : own.filter((id) => id === destination_id),
    recordIds: null,
    held: null,
    fromId: null,
    toId: null,
    before: afterCursor(cursor),
    limit: limit + 1,
  })
  const { rows, next_cursor } = pageOf(found, limit)
  return { deliveries: (await presentDeliveries(ctx, rows)).map(shown), next_cursor }
}

export const get: Verb<'getDelivery'> = async (ctx, { id }) => {
  await ownDelivery(ctx, id)
  const { delivery } = await deliveries.get(ctx, { id })
  return { delivery: shown(delivery), attempts: delivery.attempts }
}

export const listAttempts: Verb<'listAttempts'> = async (ctx, { id }) => ({
  attempts: (await get(ctx, { id })).attempts,
})

export const getAttempt: Verb<'getAttempt'> = async (ctx, { id }) => {
  const row = await findAttempt(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  await ownDelivery(ctx, row.delivery_id)
  return attempts.get(ctx, { id })
}

const ENDED: ReadonlySet<DeliveryRow['state']> = new Set(['delivered', 'failed', 'cancelled'])

/** A waiting delivery is due now; an ended one is sent again. */
export const retry: Verb<'retryDelivery'> = async (ctx, { id }) => {
  const { state } = await ownDelivery(ctx, id)
  const { delivery } = await (ENDED.has(state) ? deliveries.replay(ctx, { id }) : deliveries.retry(ctx, { id }))
  return { delivery: shown(delivery) }
}
