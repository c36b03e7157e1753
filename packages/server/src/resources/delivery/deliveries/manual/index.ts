import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../../context.ts'
import { refuse } from '../../../../domain/refusal.ts'
import { inTransaction } from '../../../../transaction.ts'
import { audit } from '../../../workspace/audit/index.ts'
import { allowanceExhausted, lockAllowance, useAllowance } from '../../../workspace/usage/index.ts'
import type { Room } from '../../../verbs.ts'
import { presentOne } from '../present.ts'
import { countOutcomesOf } from '../outcomes/queries.ts'
import { findDelivery, type DeliveryRow } from '../queries.ts'
import { cancelSending, cancelWaiting, replayDelivery, retryDelivery } from './queries.ts'

type Verbs = Room<'deliveries'>
type At = { readonly workspaceId: string; readonly projectId: string; readonly id: string; readonly now: Date }
type Move = {
  /** The action in the audit row. */
  readonly action: string
  /** Changes the row; undefined when its state does not allow it. */
  readonly move: (tx: Ctx, at: At) => Promise<{ destination_id: string } | undefined>
  /** The sentence of the refusal, by the state of the delivery. */
  readonly refusals: Readonly<Record<DeliveryRow['state'], string>>
  /** The sentence of the refusal for a delivery that waits for the allowance. */
  readonly allowanceRefusal?: string
}

/** A change that a person makes to one delivery: changes or refuses it, writes the audit row, and notifies its sender. */
const manual = (ctx: Ctx, id: string, how: Move) =>
  inTransaction(ctx, async (tx) => {
    const held = await findDelivery(tx.db, { ...tx, id })
    if (held === undefined) throw refuse('not_found')
    const moved = await how.move(tx, {
      workspaceId: tx.workspaceId,
      projectId: tx.projectId,
      id,
      now: new Date(tx.clock.now()),
    })
    const row = await findDelivery(tx.db, { ...tx, id })
    if (row === undefined) throw refuse('not_found')
    if (moved === undefined)
      throw refuse(
        'invalid_state',
        row.pause_reason === 'allowance_used' ? (how.allowanceRefusal ?? how.refusals.paused) : how.refusals[row.state],
      )
    await audit(tx, {
      action: how.action,
      target: encodeId('delivery', id),
      change: { before: stateOf(held), after: stateOf(row) },
    })
    const lane = { workspaceId: tx.workspaceId, destinationId: moved.destination_id }
    tx.afterCommit(() => tx.lanesChanged({ lanes: [lane], disabled: false }))
    return { delivery: await presentOne(tx, row) }
  })

/** The part of a delivery that a person changes. */
const stateOf = ({ state, pause_reason, attempt_count, next_attempt_at }: DeliveryRow): object => ({
  state,
  pause_reason,
  attempt_count,
  next_attempt_at: next_attempt_at?.toISOString() ?? null,
})

const waiting = 'This delivery has not ended yet. Postroad sends it again at next_attempt_at. To send it now, retry it.'
const gone = 'The destination of this delivery was deleted, so there is nowhere to send it.'
const busy = 'This delivery is being sent now. Wait until the attempt ends.'
const paused =
  'This delivery is paused, and pause_reason says why. Postroad sends it when that reason no longer applies. If its destination is off, turn it on.'
const forAllowance =
  "This delivery waits because the plan's deliveries for this month are used up. Postroad sends it when the next month starts or when the plan changes."
const over = 'This delivery has ended. To send it again, replay it.'
const ended = 'This delivery has ended, so there is nothing to cancel.'

/** Sends an ended delivery again, with a fresh schedule. It counts as one more delivery of the month. */
export const replay: Verbs['replay'] = (ctx, { id }) =>
  manual(ctx, id, {
    action: 'replay_delivery',
    move: async (tx, at) => {
      const allowance = await lockAllowance(tx)
      await countOutcomesOf(tx.db, { ...at, ids: [at.id] })
      const moved = await replayDelivery(tx.db, at)
      if (moved === undefined || allowance === null) return moved
      if (allowance.left === 0) throw allowanceExhausted(tx)
      await useAllowance(tx, allowance, 1)
      return moved
    },
    allowanceRefusal: forAllowance,
    refusals: {
      pending: waiting,
      retrying: waiting,
      sending: busy,
      paused,
      delivered: gone,
      failed: gone,
      cancelled: gone,
    },
  })

/** Sends a waiting delivery now. */
export const retry: Verbs['retry'] = (ctx, { id }) =>
  manual(ctx, id, {
    action: 'retry_delivery',
    move: (tx, at) => retryDelivery(tx.db, at),
    allowanceRefusal: forAllowance,
    refusals: { pending: busy, retrying: busy, sending: busy, paused, delivered: over, failed: over, cancelled: over },
  })

export const cancel: Verbs['cancel'] = (ctx, { id }) =>
  manual(ctx, id, {
    action: 'cancel_delivery',
    move: cancelOne,
    refusals: {
      pending: busy,
      retrying: busy,
      sending: busy,
      paused: busy,
      delivered: ended,
      failed: ended,
      cancelled: ended,
    },
  })

/** The delivery loop may start or settle the delivery between two tries. */
const LOOKS_MAX = 5

async function cancelOne(tx: Ctx, at: At): Promise<{ destination_id: string } | undefined> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a later try sees a change that the try before it missed
    const canceled = (await cancelWaiting(tx.db, at)) ?? (await cancelSending(tx.db, at))
    if (canceled !== undefined) return canceled
  }
  return undefined
}
