import { refuse } from '../../../domain/refusal.ts'
import { idRange } from '../../id-range.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { cancel, replay, retry } from './by-hand/index.ts'
import { heldFilter } from '../delivery-holds/index.ts'
import { presentAttempt, presentDeliveries, presentOne } from './present.ts'
import { findDelivery, listAttempts, listDeliveries } from './queries.ts'

export { countPage, inStates, scan, type Found, type Wanted } from './scan/index.ts'
export {
  presentAttempt,
  presentDeliveries,
  presentDelivery,
  presentErrorCode,
  type PresentedDelivery,
} from './present.ts'
export {
  cancelOutstanding,
  findAttemptDelivery,
  findDelivery,
  listAttemptsOf,
  listDeliveries,
  listDeliveriesOf,
  pauseOutstanding,
  reasonToWait,
  resumePaused,
  startedAfresh,
} from './queries.ts'
export { type AttemptOfRow, type DeliveryRow } from './queries.ts'

export const deliveries: Room<'deliveries'> = {
  list: async (ctx, { limit, cursor, state, destination_id, record_id, held_by, ...range }) => {
    const found = await listDeliveries(ctx.db, {
      ...ctx,
      ...idRange(range),
      state: state ?? null,
      destinationId: destination_id ?? null,
      recordIds: record_id ?? null,
      held: held_by === undefined ? null : await heldFilter(ctx, held_by),
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { deliveries: await presentDeliveries(ctx, rows), next_cursor }
  },

  get: async (ctx, { id }) => {
    const row = await findDelivery(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    const attempts = await listAttempts(ctx.db, { ...ctx, deliveryId: id })
    const shown = await presentOne(ctx, row)
    return { delivery: { ...shown, attempts: attempts.map((attempt) => presentAttempt(attempt, id)) } }
  },

  replay,
  retry,
  cancel,
}
