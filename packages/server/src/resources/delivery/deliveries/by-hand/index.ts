import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../../context.ts'
import { refuse } from '../../../../domain/refusal.ts'
import { inTransaction } from '../../../../transaction.ts'
import { audit } from '../../../workspace/audit/index.ts'
import { allowanceExhausted, holdAllowance, useAllowance } from '../../../workspace/usage/index.ts'
import type { Room } from '../../../verbs.ts'
import { presentOne } from '../present.ts'
import { findDelivery, type DeliveryRow } from '../queries.ts'
import { cancelSending, cancelWaiting, replayDelivery, retryDelivery } from './queries.ts'

type Verbs = Room<'deliveries'>
type At = { readonly workspaceId: string; readonly projectId: string; readonly id: string; readonly now: Date }
type Move = {
  /** Of the audit row. */
  readonly action: string
  /** Changes the row; undefined when its state does not allow it. */
  readonly move: (tx: Ctx, at: At) => Promise<{ destination_id: string } | undefined>
  /** What a person is told instead, by the state that the delivery is in. */
  readonly whyNot: Readonly<Record<DeliveryRow['state'], string>>
  /** Likewise, of one that waits for the allowance. */
  readonly whyAllowance?: string
}

/** What people do to one delivery: it is moved or refused, audited, and its sender told. */
const byHand = (ctx: Ctx, id: string, how: Move) =>
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
        row.pause_reason === 'allowance_used' ? (how.whyAllowance ?? how.whyNot.paused) : how.whyNot[row.state],
      )
    await audit(tx, { action: how.action, target: encodeId('delivery', id) })
    const lane = { workspaceId: tx.workspaceId, destinationId: moved.destination_id }
    tx.afterCommit(() => tx.lanesChanged({ lanes: [lane], halted: false }))
    return { delivery: await presentOne(tx, row) }
  })

const waiting =
  'This delivery has not ended yet; it is sent again by itself at next_attempt_at. Retry it to have it sent now.'
const gone = 'The destination of this delivery was deleted, so there is nowhere to send it.'
const busy = 'This delivery is being sent just now. Wait for the attempt to end.'
const paused =
  'This delivery is paused; pause_reason says why. It is sent by itself when the reason goes: switch its destination on.'
const forAllowance =
  "This delivery waits because the plan's deliveries of this month are used up. It is sent by itself when the next month begins, or the plan is changed."
const over = 'This delivery has ended. Replay it to have it sent again.'
const ended = 'This delivery has ended, so there is nothing to cancel.'

/** Sends an ended delivery again, with a fresh schedule. It counts as one more delivery of the month. */
export const replay: Verbs['replay'] = (ctx, { id }) =>
  byHand(ctx, id, {
    action: 'replay_delivery',
    move: async (tx, at) => {
      const allowance = await holdAllowance(tx)
      const moved = await replayDelivery(tx.db, at)
      if (moved === undefined || allowance === null) return moved
      if (allowance.left === 0) throw allowanceExhausted(tx)
      await useAllowance(tx, allowance, 1)
      return moved
    },
    whyAllowance: forAllowance,
    whyNot: {
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
  byHand(ctx, id, {
    action: 'retry_delivery',
    move: (tx, at) => retryDelivery(tx.db, at),
    whyAllowance: forAllowance,
    whyNot: { pending: busy, retrying: busy, sending: busy, paused, delivered: over, failed: over, cancelled: over },
  })

export const cancel: Verbs['cancel'] = (ctx, { id }) =>
  byHand(ctx, id, {
    action: 'cancel_delivery',
    move: cancelOne,
    whyNot: {
      pending: busy,
      retrying: busy,
      sending: busy,
      paused: busy,
      delivered: ended,
      failed: ended,
      cancelled: ended,
    },
  })

/** A delivery may be begun or settled between two looks. */
const LOOKS_MAX = 5

async function cancelOne(tx: Ctx, at: At): Promise<{ destination_id: string } | undefined> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each look is at what the one before has missed
    const cancelled = (await cancelWaiting(tx.db, at)) ?? (await cancelSending(tx.db, at))
    if (cancelled !== undefined) return cancelled
  }
  return undefined
}
