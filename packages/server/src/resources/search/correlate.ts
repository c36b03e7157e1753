import { decodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { findAttemptDelivery, findDelivery, listAttemptsOf, listDeliveriesOf } from '../deliveries/index.ts'
import { listRecordsById } from '../records/index.ts'
import { findSubmission } from '../submissions/index.ts'
import type { Room } from '../verbs.ts'
import { storyOf } from './story.ts'

const { correlatedDeliveriesMax, correlatedAttemptsMax } = LIMITS

/** Any id of an event's way → all of it. What is not there, and what is another project's, answer alike. */
export const correlate: Room<'search'>['correlate'] = async (ctx, { id }) => {
  const submissionId = await submissionBehind(ctx, id)
  const submission = submissionId === undefined ? undefined : await findSubmission(ctx.db, { ...ctx, id: submissionId })
  if (submission === undefined) throw refuse('not_found')
  const [records, deliveries] = await Promise.all([
    listRecordsById(ctx.db, { ...ctx, ids: submission.record_ids }),
    listDeliveriesOf(ctx.db, { ...ctx, recordIds: submission.record_ids, limit: correlatedDeliveriesMax + 1 }),
  ])
  const shown = deliveries.slice(0, correlatedDeliveriesMax)
  const attempts = await listAttemptsOf(ctx.db, { ...ctx, deliveryIds: shown.map((row) => row.id), limit: correlatedAttemptsMax + 1 })
  const truncated = deliveries.length > shown.length || attempts.length > correlatedAttemptsMax
  return { id, truncated, ...storyOf({ submission, records, deliveries: shown, attempts: attempts.slice(0, correlatedAttemptsMax) }) }
}

/** Up the way, one table at a time: each is asked by its key. */
async function submissionBehind(ctx: Ctx, text: string): Promise<string | undefined> {
  const attempt = decodeId('attempt', text)
  const delivery = attempt === undefined ? decodeId('delivery', text) : await findAttemptDelivery(ctx.db, { ...ctx, id: attempt })
  const record = delivery === undefined ? decodeId('record', text) : (await findDelivery(ctx.db, { ...ctx, id: delivery }))?.record_id
  if (record === undefined) return decodeId('submission', text)
  return (await listRecordsById(ctx.db, { ...ctx, ids: [record] }))[0]?.submission_id
}
