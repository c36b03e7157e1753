import type { RequestView } from '../../domain/routing/event-path.ts'
import type { MatchIndex } from '../../domain/routing/match-index.ts'
import type { Counting } from '../../domain/work-budget.ts'
import type { DeliveryDraft, RecordDraft } from '../types.ts'
import type { DestinationPlan, Routing } from './routing.ts'

/**
 * Record drafts × destinations → deliveries, and the destinations that match each record. A destination that is turned off
 * still gets its delivery, paused: nothing is dropped. Among the destinations of customers, only `owned` are considered: those
 * of the customer that the event names.
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
    readonly owned: MatchIndex<DestinationPlan> | undefined
  },
): { readonly deliveries: readonly DeliveryDraft[]; readonly destinations: readonly (readonly string[])[] } {
  const deliveries: DeliveryDraft[] = []
  const destinations = records.map((record) => {
    const of = { dataset: record.dataset, source: { payload: record.payload, request }, budget }
    const ofProject = routing.destinations.matching(of)
    const matched = owned === undefined ? ofProject : [...ofProject, ...owned.matching(of)]
    for (const destination of matched) deliveries.push(draft(uuid(), { record, request, destination }))
    return matched.map(({ publicId }) => publicId)
  })
  return { deliveries, destinations }
}

function draft(
  id: string,
  {
    record,
    request,
    destination,
  }: { readonly record: RecordDraft; readonly request: RequestView | null; readonly destination: DestinationPlan },
): DeliveryDraft {
  const { orderKeyOf } = destination
  const made = {
    id,
    recordId: record.id,
    destinationId: destination.id,
    pauseReason: destination.enabled ? null : ('destination_disabled' as const),
  }
  return orderKeyOf === undefined
    ? made
    : { ...made, orderKey: orderKeyOf({ payload: record.payload, request }, record.id) }
}
