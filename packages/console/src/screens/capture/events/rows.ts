import type { RouteAnswer, Routes } from '@postroad/contract'
import { toneOf, worstOf } from '../../../data/tone.ts'
import type { Arrival, Delivery, Filed, Gap, Rejection, Tail } from '../../../data/tail.ts'
import type { Tone } from '../../../ui/glyph.tsx'

export type Submission = RouteAnswer<Routes['submissions']['list']>['submissions'][number]

/** One line of the list: a record, a request that was filed nowhere, rejected requests, or a gap in the tail. */
export type EventRow = { readonly id: string; readonly at: string } & (
  | { readonly kind: 'record'; readonly record: Filed }
  | { readonly kind: 'unfiled'; readonly submission: Submission }
  | { readonly kind: 'rejection'; readonly rejection: Rejection }
  | { readonly kind: 'gap'; readonly gap: Gap }
)

export function recordRow(record: Filed): EventRow {
  return { kind: 'record', id: record.id, at: record.received_at, record }
}

export function rejectionRow(rejection: Rejection): EventRow {
  return { kind: 'rejection', id: rejection.id, at: rejection.at, rejection }
}

export function unfiledRow(submission: Submission): EventRow {
  return { kind: 'unfiled', id: submission.id, at: submission.received_at, submission }
}

export function rowOf(arrival: Arrival): EventRow {
  if (arrival.kind === 'record') return recordRow(arrival.record)
  return arrival.kind === 'rejection'
    ? rejectionRow(arrival.rejection)
    : { kind: 'gap', id: arrival.gap.id, at: arrival.gap.at, gap: arrival.gap }
}

/** The rows of all lists, newest first and each once; the earlier list wins. */
export function merged(...lists: readonly (readonly EventRow[])[]): readonly EventRow[] {
  const byId = new Map<string, EventRow>()
  for (const list of lists) for (const row of list) if (!byId.has(row.id)) byId.set(row.id, row)
  return [...byId.values()].toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.id < b.id ? 1 : -1))
}

/** The deliveries of a row in the order of their destinations. */
export function deliveriesOf(tail: Tail, row: EventRow): readonly Delivery[] {
  if (row.kind !== 'record') return []
  return [...(tail.deliveries.get(row.id)?.values() ?? [])]
    .map((delivery) => tail.withHold(delivery))
    .toSorted((a, b) => (a.destination_id < b.destination_id ? -1 : 1))
}

export function tonesOf(deliveries: readonly Delivery[]): readonly Tone[] {
  return deliveries.map(toneOf)
}

export function toneOfRow(row: EventRow, deliveries: readonly Delivery[]): Tone {
  if (row.kind === 'rejection') return 'rejected'
  return row.kind === 'record' ? worstOf(tonesOf(deliveries)) : 'none'
}

/** The time from arrival to the last delivery; null while a delivery is under way. */
export function tookMs(row: EventRow, deliveries: readonly Delivery[]): number | null {
  if (deliveries.length === 0 || deliveries.some(({ state }) => state !== 'delivered')) return null
  return Math.max(...deliveries.map(({ updated_at }) => Date.parse(updated_at))) - Date.parse(row.at)
}
