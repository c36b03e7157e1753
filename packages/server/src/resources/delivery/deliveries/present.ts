import { encodeId, type ERROR_CODES } from '@postroad/contract'
import { shownRequest } from '../../../domain/delivery/sent-request.ts'
import { heldOf } from '../delivery-holds/index.ts'
import { summarizeEvents } from '../../capture/event-summaries/index.ts'
import type { Ctx } from '../../../context.ts'
import type { AttemptRow, DeliveryRow } from './queries.ts'

type ErrorCode = (typeof ERROR_CODES)[number]
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column is written from the same list
export const presentErrorCode = (text: string | null): ErrorCode | null => text as ErrorCode | null

/** Row → public shape, as the delivery was at its last change. */
export const presentDelivery = (row: DeliveryRow) => ({
  ...row,
  id: encodeId('delivery', row.id),
  record_id: encodeId('record', row.record_id),
  destination_id: encodeId('destination', row.destination_id),
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  last_error: presentErrorCode(row.last_error),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** Rows → public shape, each with the reason why its destination holds it back now. */
export async function presentDeliveries(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId' | 'clock'>,
  rows: readonly DeliveryRow[],
) {
  const held = await heldOf(ctx, rows)
  return rows.map((row) => ({ ...presentDelivery(row), held_by: held(row) }))
}

/** Like `presentDeliveries`, each with the title of its event and the start of the payload. */
export async function presentListed(ctx: Parameters<typeof presentDeliveries>[0], rows: readonly DeliveryRow[]) {
  const [shown, summaryOf] = await Promise.all([
    presentDeliveries(ctx, rows),
    summarizeEvents(
      ctx,
      rows.map((row) => row.record_id),
    ),
  ])
  return shown.map((delivery, index) => ({ ...delivery, event: summaryOf(rows[index]?.record_id ?? '') }))
}

export type PresentedDelivery = Awaited<ReturnType<typeof presentDeliveries>>[number]

export async function presentOne(ctx: Parameters<typeof presentDeliveries>[0], row: DeliveryRow) {
  const held = await heldOf(ctx, [row])
  return { ...presentDelivery(row), held_by: held(row) }
}

/** Row → public shape, with as much of the response as the row has. */
export const presentAttempt = <Row extends Omit<AttemptRow, 'response_headers' | 'response_body' | 'request'>>(
  row: Row,
  deliveryId: string,
) => ({
  ...row,
  id: encodeId('attempt', row.id),
  delivery_id: encodeId('delivery', deliveryId),
  started_at: row.started_at.toISOString(),
  error_code: presentErrorCode(row.error_code),
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
})

/** Row → public shape, with its request as it was sent. */
export const presentWholeAttempt = (row: AttemptRow, delivery: Pick<DeliveryRow, 'id' | 'record_id' | 'dataset'>) => ({
  ...presentAttempt(row, delivery.id),
  request: shownRequest(row.request, { recordId: delivery.record_id, dataset: delivery.dataset, attempt: row }),
})
