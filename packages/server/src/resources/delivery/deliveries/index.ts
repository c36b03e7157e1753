import { refuse } from '../../../domain/refusal.ts'
import type { Ctx } from '../../../context.ts'
import { idRange } from '../../id-range.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { cancel, replay, retry } from './manual/index.ts'
import { crowdedLanes, heldFilter } from '../delivery-holds/index.ts'
import { presentListed, presentWholeAttempt } from './present.ts'
import { listDeliveries } from './list/queries.ts'
import { findDelivery, listAttempts } from './queries.ts'

export { countPage, inStates, listMatching, scan, type Found, type Wanted } from './scan/index.ts'
export { countForgottenOutcomes, countOutcomes, countOutcomesOf } from './outcomes/queries.ts'
export {
  presentAttempt,
  presentDeliveries,
  presentDelivery,
  presentErrorCode,
  presentListed,
  presentWholeAttempt,
  type PresentedDelivery,
} from './present.ts'
export {
  cancelOutstanding,
  findAttempt,
  findAttemptDelivery,
  findDelivery,
  listAttemptsOf,
  listDeliveriesOf,
  pauseOutstanding,
  reasonToWait,
  resumePaused,
  startedAfresh,
} from './queries.ts'
export { listDeliveries } from './list/queries.ts'
export { resumeCanceled } from './resumed/queries.ts'
export { type AttemptOfRow, type DeliveryRow } from './queries.ts'

async function heldLanes(ctx: Ctx, cause: Parameters<typeof heldFilter>[1]) {
  const filter = await heldFilter(ctx, cause)
  return { ...filter, crowded: await crowdedLanes(ctx, filter) }
}

export const deliveries: Room<'deliveries'> = {
  list: async (ctx, { limit, cursor, state, destination_id, record_id, held_by, ...range }) => {
    const found = await listDeliveries(ctx.db, {
      ...ctx,
      ...idRange(range),
      state: state ?? null,
      destinationId: destination_id ?? null,
      recordIds: record_id ?? null,
      held: held_by === undefined ? null : await heldLanes(ctx, held_by),
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { deliveries: await presentListed(ctx, rows), next_cursor }
  },

  get: async (ctx, { id }) => {
    const row = await findDelivery(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    const attempts = await listAttempts(ctx.db, { ...ctx, deliveryId: id })
    const [shown] = await presentListed(ctx, [row])
    if (shown === undefined) throw refuse('not_found')
    return { delivery: { ...shown, attempts: attempts.map((attempt) => presentWholeAttempt(attempt, row)) } }
  },

  replay,
  retry,
  cancel,
}
