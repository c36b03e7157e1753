import type { Deps } from '../../context.ts'
import type { EventRows, FirstAttempt } from '../../resources/capture/submissions/insert/queries.ts'
import type { BeginFirst } from '../types.ts'
import type { BegunRow } from './attempts/queries.ts'
import { INLINE_BYTES_MAX } from './payload-memory.ts'
import type { Answer, Arrival, Begun, FirstBegins, Turned } from './ports.ts'
import { begunOf, laneKey } from './postgres-rows.ts'

type Machine = {
  readonly arriving: (arrivals: readonly Arrival[]) => FirstBegins | undefined
  readonly turned: (op: number, answer: Answer<Turned>) => void
}

type Delivery = EventRows['deliveries'][number]

/**
 * First attempts that start with the commit of their deliveries (docs/adr/0396). The machine takes their slots and learns the
 * outcome of the commit. The sender makes the requests from the rows in memory.
 */
export function createBeginFirst({ clock, uuid }: Pick<Deps, 'clock' | 'uuid'>, machine: Machine): BeginFirst {
  return (rows) => {
    const first = machine.arriving(rows.flatMap(arrivalsIn))
    if (first === undefined) return undefined
    const at = new Date(clock.now())
    const starts = new Map(
      first.begins.map(({ delivery_id, fence }) => [delivery_id, { attemptId: uuid(), fence, at }] as const),
    )
    const withStarts = rows.map((event) => ({
      ...event,
      deliveries: event.deliveries.map((delivery) => ({ ...delivery, start: starts.get(delivery.id) })),
    }))
    return {
      rows: withStarts,
      ended: (outcome) => {
        const begun = typeof outcome === 'string' ? [] : withStarts.flatMap((event) => begunIn(event, outcome.stored))
        const value = { begun, applied: [], paused: [], lost: [] }
        machine.turned(first.op, typeof outcome === 'string' ? { outcome } : { outcome: 'done', value })
        return new Set(begun.map(({ delivery_id }) => delivery_id))
      },
    }
  }
}

/** Deliveries that wait for nothing. */
function arrivalsIn({ workspaceId, deliveries }: EventRows): readonly Arrival[] {
  return deliveries.flatMap(({ id, destinationId, pauseReason, orderKey }) =>
    pauseReason === null && orderKey === undefined
      ? [{ lane: laneKey({ workspaceId, destinationId }), delivery_id: id }]
      : [],
  )
}

function begunIn(event: EventRows, stored: ReadonlySet<string>): readonly Begun[] {
  return event.deliveries.flatMap(({ start, ...delivery }) =>
    start === undefined || !stored.has(start.attemptId) ? [] : [begunOf(begunRow(event, { ...delivery, ...start }))],
  )
}

/** The same data as a turn reads for an attempt that it starts. */
function begunRow(event: EventRows, delivery: Delivery & FirstAttempt): BegunRow {
  const { workspaceId, projectId, submission } = event
  const record = event.records.find(({ id }) => id === delivery.recordId)
  const data = record?.data ?? submission.body
  if (record === undefined || data === null) throw new Error('A delivery has no payload.')
  const bytes = Buffer.byteLength(data)
  return {
    workspace_id: workspaceId,
    destination_id: delivery.destinationId,
    fence: delivery.fence,
    project_id: projectId,
    delivery_id: delivery.id,
    attempt_id: delivery.attemptId,
    record_id: record.id,
    submission_id: submission.id,
    attempt_number: 1,
    failure_count: 0,
    dataset: record.dataset,
    received_at: new Date(submission.receivedAt),
    hops: submission.hops,
    receiver_id: submission.webhookId ?? submission.ingestKeyId ?? submission.origin?.id ?? null,
    chain: submission.chain,
    data: bytes <= INLINE_BYTES_MAX ? data : null,
    bytes,
    request_bytes: submission.bodySize,
  }
}
