import { encodeId, type Decision } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import type { InTurns, Spend } from '../../domain/in-turns.ts'
import { explain } from '../../domain/routing/explain.ts'
import type { DestinationPlan } from '../directory.ts'
import type { DeliveryDraft, RecordDraft, Verified } from '../types.ts'

type Considered = Decision['destinations'][number]

/**
 * Record drafts × destinations → deliveries, with the reason for each match and each mismatch. A destination that is
 * turned off still gets its delivery, paused: nothing is dropped. Among the destinations of customers, only `owned` are
 * considered: those of the customer that the event names.
 */
export function* fanOut(
  ids: Pick<Deps, 'uuid'>,
  event: {
    verified: Verified
    records: readonly RecordDraft[]
    owned: readonly DestinationPlan[] | undefined
    spend: Spend
  },
): InTurns<{ deliveries: readonly DeliveryDraft[]; decisions: readonly Considered[] }> {
  const deliveries: DeliveryDraft[] = []
  const decisions: Considered[] = []
  const { destinations: common } = event.verified.receiver.plan
  const destinations = event.owned === undefined ? common : [...common, ...event.owned]
  for (const record of event.records) {
    for (const destination of destinations) {
      const considered = yield* consider(destination, { record, spend: event.spend })
      decisions.push(considered)
      if (considered.matched) {
        const draft = {
          id: ids.uuid(),
          recordId: record.id,
          destinationId: destination.id,
          pauseReason: destination.enabled ? null : ('destination_disabled' as const),
        }
        deliveries.push(
          destination.orderKeyOf === undefined
            ? draft
            : { ...draft, orderKey: destination.orderKeyOf(record.payload, record.id) },
        )
      }
    }
  }
  return { deliveries, decisions }
}

function* consider(
  destination: DestinationPlan,
  { record, spend }: { readonly record: RecordDraft; readonly spend: Spend },
): InTurns<Considered> {
  const named = {
    destination_id: destination.publicId,
    destination: destination.name,
    record_id: encodeId('record', record.id),
  }
  if (destination.datasets !== null && !destination.datasets.has(record.dataset)) {
    return { ...named, matched: false, reason: 'dataset_not_subscribed', failed: null }
  }
  const failed = yield* explain(destination.conditions, { payload: record.payload, spend })
  if (failed !== null) return { ...named, matched: false, reason: 'condition_failed', failed }
  return { ...named, matched: true, reason: destination.enabled ? 'matched' : 'destination_disabled', failed: null }
}
