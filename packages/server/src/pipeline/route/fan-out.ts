import { encodeId, type Decision } from '@postroad/contract'
import type { RequestView } from '../../domain/routing/event-path.ts'
import { explain } from '../../domain/routing/explain.ts'
import type { Counting } from '../../domain/work-budget.ts'
import type { DeliveryDraft, RecordDraft } from '../types.ts'
import type { DestinationPlan, Routing } from './routing.ts'

type Considered = Decision['destinations'][number]

/**
 * Record drafts × destinations → deliveries, with the reason for each match and each mismatch. A destination that is
 * turned off still gets its delivery, paused: nothing is dropped. Among the destinations of customers, only `owned` are
 * considered: those of the customer that the event names.
 */
export function fanOut(
  { uuid, routing, budget }: { readonly uuid: () => string; readonly routing: Routing; readonly budget: Counting },
  {
    records,
    request,
    owned,
  }: {
    readonly records: readonly RecordDraft[]
    readonly request: RequestView | null
    readonly owned: readonly DestinationPlan[] | undefined
  },
): { deliveries: readonly DeliveryDraft[]; decisions: readonly Considered[] } {
  const deliveries: DeliveryDraft[] = []
  const decisions: Considered[] = []
  const destinations = owned === undefined ? routing.destinations : [...routing.destinations, ...owned]
  for (const record of records) {
    for (const destination of destinations) {
      const considered = consider(destination, { record, request, budget })
      decisions.push(considered)
      if (considered.matched) {
        const draft = {
          id: uuid(),
          recordId: record.id,
          destinationId: destination.id,
          pauseReason: destination.enabled ? null : ('destination_disabled' as const),
        }
        deliveries.push(
          destination.orderKeyOf === undefined
            ? draft
            : { ...draft, orderKey: destination.orderKeyOf({ payload: record.payload, request }, record.id) },
        )
      }
    }
  }
  return { deliveries, decisions }
}

function consider(
  destination: DestinationPlan,
  {
    record,
    request,
    budget,
  }: { readonly record: RecordDraft; readonly request: RequestView | null; readonly budget: Counting },
): Considered {
  const named = {
    destination_id: destination.publicId,
    destination: destination.name,
    record_id: encodeId('record', record.id),
  }
  if (destination.datasets !== null && !destination.datasets.has(record.dataset)) {
    return { ...named, matched: false, reason: 'dataset_not_subscribed', failed: null }
  }
  const failed = explain(destination.conditions, { payload: record.payload, request, budget })
  if (failed !== null) return { ...named, matched: false, reason: 'condition_failed', failed }
  return { ...named, matched: true, reason: destination.enabled ? 'matched' : 'destination_disabled', failed: null }
}
