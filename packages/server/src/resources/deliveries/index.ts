import { encodeId, type ERROR_CODES } from '@postroad/contract'
import { refuse } from '../../domain/refusal.ts'
import { inTransaction } from '../../transaction.ts'
import { audit } from '../audit/index.ts'
import { idRange } from '../id-range.ts'
import { afterCursor, pageOf } from '../page.ts'
import type { Room } from '../verbs.ts'
import { findDelivery, listAttempts, listDeliveries, replayDelivery, type AttemptRow, type DeliveryRow } from './queries.ts'

export { cancelOutstanding, findAttemptDelivery, findDelivery, listAttemptsOf, listDeliveriesOf, pauseOutstanding, resumePaused } from './queries.ts'
export { type AttemptOfRow, type DeliveryRow } from './queries.ts'

type ErrorCode = (typeof ERROR_CODES)[number]
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column is written from the same list
const errorCode = (text: string | null): ErrorCode | null => text as ErrorCode | null

/** Row → public shape. */
export const presentDelivery = (row: DeliveryRow) => ({
  ...row,
  id: encodeId('delivery', row.id),
  record_id: encodeId('record', row.record_id),
  destination_id: encodeId('destination', row.destination_id),
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  last_error: errorCode(row.last_error),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** Row → public shape, with as much of the answer as the row has. */
export const presentAttempt = <Row extends Omit<AttemptRow, 'response_headers' | 'response_body'>>(row: Row, deliveryId: string) => ({
  ...row,
  id: encodeId('attempt', row.id),
  delivery_id: encodeId('delivery', deliveryId),
  started_at: row.started_at.toISOString(),
  error_code: errorCode(row.error_code),
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
})

export const deliveries: Room<'deliveries'> = {
  list: async (ctx, { limit, cursor, state, destination_id, record_id, ...range }) => {
    const found = await listDeliveries(ctx.db, {
      ...ctx,
      ...idRange(range),
      state: state ?? null,
      destinationId: destination_id ?? null,
      recordId: record_id ?? null,
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { deliveries: rows.map(presentDelivery), next_cursor }
  },

  get: async (ctx, { id }) => {
    const row = await findDelivery(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    const attempts = await listAttempts(ctx.db, { ...ctx, deliveryId: id })
    return { delivery: { ...presentDelivery(row), attempts: attempts.map((attempt) => presentAttempt(attempt, id)) } }
  },

  replay: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findDelivery(tx.db, { ...tx, id })
      if (held === undefined) throw refuse('not_found')
      const replayed = await replayDelivery(tx.db, { ...tx, id, now: new Date(tx.clock.now()) })
      if (replayed === undefined) throw refuse('invalid_state', WHY_NOT[held.state])
      await audit(tx, { action: 'replay_delivery', target: encodeId('delivery', id) })
      const lane = { workspaceId: tx.workspaceId, destinationId: replayed.destination_id }
      tx.afterCommit(() => tx.lanesChanged({ lanes: [lane], halted: false }))
      const row = await findDelivery(tx.db, { ...tx, id })
      if (row === undefined) throw refuse('not_found')
      return { delivery: presentDelivery(row) }
    }),
}

const gone = 'The destination of this delivery was deleted, so there is nowhere to send it.'
const waiting = 'This delivery has not ended yet; it is sent again by itself at next_attempt_at.'
const WHY_NOT: Readonly<Record<DeliveryRow['state'], string>> = {
  pending: waiting,
  retrying: waiting,
  sending: 'This delivery is being sent just now. Wait for the attempt to end.',
  paused: 'This delivery is paused. Switch its destination on, and it is sent by itself.',
  delivered: gone,
  failed: gone,
  cancelled: gone,
}
