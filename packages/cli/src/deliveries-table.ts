import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import { stateStyle, stateText } from './text/state.ts'
import { style } from './text/style.ts'
import { table } from './text/table.ts'
import { listMoment } from './text/time.ts'

type Delivery = RouteAnswer<Routes['deliveries']['list']>['deliveries'][number]

/** Destination names by id. */
export type Names = ReadonlyMap<string, string>

export async function destinationNames(client: Client): Promise<Names> {
  const names = new Map<string, string>()
  for await (const { id, name } of client.destinations.list({ limit: 200 })) names.set(id, name)
  return names
}

/** The last response of a destination: its status, or the reason why there was none. */
export function answerText({
  last_status: status,
  last_error: error,
}: Pick<Delivery, 'last_status' | 'last_error'>): string {
  if (status !== null) return String(status)
  return error === null ? '' : error.replaceAll('_', ' ')
}

/** A deleted destination has no name, so its id is shown. */
export function deliveriesTable(deliveries: readonly Delivery[], { names }: { readonly names: Names }): string {
  return table([
    {
      head: 'State',
      cells: deliveries.map(stateText),
      paint: (cell, row) => stateStyle(deliveries[row] ?? { state: 'pending', held_by: null })(cell),
    },
    { head: 'Changed (UTC)', cells: deliveries.map(({ updated_at }) => listMoment(updated_at)), paint: style.dim },
    { head: 'Delivery', cells: deliveries.map(({ id }) => id) },
    { head: 'Destination', cells: deliveries.map(({ destination_id: id }) => names.get(id) ?? id), least: 11 },
    { head: 'Tries', cells: deliveries.map(({ attempt_count: count }) => String(count)), align: 'right', spare: true },
    { head: 'Answer', cells: deliveries.map(answerText), spare: true },
    {
      head: 'Held by',
      cells: deliveries.map(({ held_by }) => (held_by === null ? '' : held_by.cause.replaceAll('_', ' '))),
      spare: true,
    },
    { head: 'Event', cells: deliveries.map(({ record_id }) => record_id), spare: true },
    { head: 'Title', cells: deliveries.map(({ event, dataset }) => event.title ?? dataset), least: 10, spare: true },
    { head: 'Payload', cells: deliveries.map(({ event }) => event.payload_start), least: 12, spare: true },
  ])
}
