import { refuse } from '../../../domain/refusal.ts'
import { idRange } from '../../id-range.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { cancel, replay, retry } from './by-hand/index.ts'
import { presentAttempt, presentDelivery } from './present.ts'
import { findDelivery, listAttempts, listDeliveries } from './queries.ts'

export { countPage, scan, type Found, type Wanted } from './scan/index.ts'
export { presentAttempt, presentDelivery, presentErrorCode } from './present.ts'
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
  list: async (ctx, { limit, cursor, state, destination_id, record_id, ...range }) => {
    const found = await listDeliveries(ctx.db, {
      ...ctx,
      ...idRange(range),
      state: state ?? null,
      destinationId: destination_id ?? null,
      recordIds: record_id ?? null,
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

  replay,
  retry,
  cancel,
}
