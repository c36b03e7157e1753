import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { presentErrorCode } from '../deliveries/index.ts'
import { findPayload, type PayloadRow } from '../../capture/payloads/index.ts'
import { closeBreaker, presentBreaker } from '../lanes/index.ts'
import type { Room } from '../../verbs.ts'
import { findDestination, type DestinationRow } from './queries.ts'

/** Sends a sample or a record to see the response of the destination. The request is sent outside of any transaction. */
export const test: Room<'destinations'>['test'] = async (ctx, { id, record_id }) => {
  const row = await findDestination(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  const event = record_id === undefined ? sampleFor(ctx, row) : await findPayload(ctx.db, { ...ctx, id: record_id })
  if (event === undefined) throw refuse('not_found')
  const attemptId = ctx.uuid()
  const startedAt = new Date(ctx.clock.now()).toISOString()
  const sent = await ctx.sendTest({
    workspace_id: ctx.workspaceId,
    project_id: ctx.projectId,
    destination_id: id,
    attempt_id: attemptId,
    record_id: event.id,
    dataset: event.dataset,
    received_at: event.received_at,
    data: event.data,
    timeoutMs: Math.min(row.timeout_ms, LIMITS.testTimeoutMsMax),
  })
  const closed_breaker = await inTransaction(ctx, async (tx) => {
    const closed = sent.outcome === 'succeeded' && (await closedBreaker(tx, id))
    const details = {
      outcome: sent.outcome,
      response_status: sent.response_status,
      error_code: sent.error_code,
      ...(closed ? { closed_breaker: true } : {}),
    }
    const lane = { workspaceId: tx.workspaceId, destinationId: id }
    if (closed) tx.afterCommit(() => tx.lanesChanged({ lanes: [lane], disabled: false }))
    await audit(tx, { action: 'test_destination', target: encodeId('destination', id), details })
    return closed
  })
  return {
    attempt: {
      ...sent,
      error_code: presentErrorCode(sent.error_code),
      id: encodeId('attempt', attemptId),
      event_id: encodeId('record', event.id),
      started_at: startedAt,
    },
    closed_breaker,
  }
}

/** Closes the breaker, because the destination has answered; false when it is closed already or the destination is off. */
async function closedBreaker(tx: Ctx, id: string): Promise<boolean> {
  const row = await findDestination(tx.db, { ...tx, id, lock: true })
  if (row === undefined || !row.enabled || presentBreaker(row.lane).state === 'closed') return false
  await closeBreaker(tx.db, { workspaceId: tx.workspaceId, destinationId: id })
  return true
}

/** An event that is not stored, in a dataset that the destination receives. */
function sampleFor(ctx: Ctx, { datasets }: DestinationRow): PayloadRow {
  const data = JSON.stringify({
    test: true,
    message: 'This is a test from Postroad. Your endpoint receives events like this one.',
  })
  return { id: ctx.uuid(), dataset: datasets?.[0] ?? 'test', received_at: new Date(ctx.clock.now()), data }
}
