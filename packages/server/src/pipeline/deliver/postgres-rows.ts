import { DEFAULT_SCHEDULE_SECONDS } from '@postroad/contract'
import { waitsUntil } from '../../domain/delivery/lane-memory.ts'
import { RATE_PERIODS_MS } from '../../domain/delivery/rate-window.ts'
import { maxInFlightOf, type Plans } from '../../domain/workspace/plan.ts'
import type { LaneAt } from '../../resources/delivery/lanes/queries.ts'
import type { BegunRow, SettleRow } from './attempts/queries.ts'
import type { GrantRow, HeldAt, NoteRow } from './lanes/queries.ts'
import type { Evidence, Payload } from './payload.ts'
import type { Begun, Held, LaneKey, Note, Settle } from './ports.ts'

/** The values of the delivery machine as rows of PostgreSQL, and back. */
export const laneKey = (lane: LaneAt): LaneKey => `${lane.workspaceId}/${lane.destinationId}`

export function laneAt(key: LaneKey): LaneAt {
  const [workspaceId = '', destinationId = ''] = key.split('/')
  return { workspaceId, destinationId }
}

export const heldAt = (held: Held): HeldAt => ({ ...laneAt(held.lane), fence: held.fence })
const heldOf = (at: HeldAt): Held => ({ lane: laneKey(at), fence: at.fence })
export const rowAt = (row: { workspace_id: string; destination_id: string }): LaneAt => ({
  workspaceId: row.workspace_id,
  destinationId: row.destination_id,
})

export const settingsOf = (
  row: Pick<
    GrantRow,
    | 'max_in_flight'
    | 'schedule_seconds'
    | 'timeout_ms'
    | 'rate_count'
    | 'rate_per'
    | 'breaker_resets'
    | 'probes_asked'
    | 'ordered'
    | 'plan'
  >,
  plans: Plans,
) => ({
  max_in_flight: maxInFlightOf(plans, row),
  rate_limit:
    row.rate_count === null || row.rate_per === null
      ? null
      : { count: row.rate_count, per_ms: RATE_PERIODS_MS[row.rate_per] },
  breaker_resets: row.breaker_resets,
  probes_asked: row.probes_asked,
  ordered: row.ordered,
  schedule_seconds: row.schedule_seconds ?? DEFAULT_SCHEDULE_SECONDS,
  timeout_ms: row.timeout_ms,
})

export function noteRow({ serial, memory, ...held }: Note, now: Date): NoteRow {
  const until = waitsUntil(memory, now.getTime())
  return { ...heldAt(held), serial, memory, waitsUntil: until === null ? null : new Date(until) }
}

const NOTHING_SEEN: Evidence = {
  durationMs: null,
  headers: null,
  body: null,
  truncated: null,
  detail: null,
  request: null,
}

export function settleRow(settle: Settle, now: Date): SettleRow {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- send.ts makes the evidence, and the machine passes it on unread
  const seen = (settle.result?.evidence ?? NOTHING_SEEN) as Evidence
  return {
    ...heldAt(settle),
    deliveryId: settle.delivery_id,
    attemptId: settle.attempt_id,
    outcome: settle.outcome,
    next: settle.next,
    counted: settle.outcome === 'failed' && settle.counts,
    nextAttemptAt: settle.next_attempt_in_ms === null ? null : new Date(now.getTime() + settle.next_attempt_in_ms),
    errorCode: settle.error_code,
    errorDetail: seen.detail,
    durationMs: seen.durationMs,
    status: settle.result?.type === 'response' ? settle.result.status : null,
    headers: seen.headers,
    body: seen.body,
    truncated: seen.truncated,
    request: seen.request,
  }
}

export function begunOf(row: BegunRow): Begun {
  return {
    ...heldOf({ ...rowAt(row), fence: row.fence }),
    delivery_id: row.delivery_id,
    attempt_id: row.attempt_id,
    record_id: row.record_id,
    attempt_number: row.attempt_number,
    failure_count: row.failure_count,
    payload: row satisfies Payload,
  }
}
