/** The rows of the model, what a transaction tells its watcher, and small facts about rows. */
import type { AttemptOutcome, AttemptTrigger, DeliveryState, PauseReason } from '../src/domain/delivery-state.ts'
import type { Begin, Held, LaneSettings } from '../src/pipeline/deliver/ports.ts'

export interface Delivery {
  readonly delivery_id: string
  readonly record_id: string
  readonly lane: string
  state: DeliveryState
  pause_reason: PauseReason | null
  next_attempt_at: number | null
  next_trigger: AttemptTrigger
  attempt_count: number
  failure_count: number
  open_attempt_id: string | null
}

export interface Attempt {
  readonly attempt_id: string
  readonly delivery_id: string
  readonly lane: string
  readonly fence: number
  readonly attempt_number: number
  readonly trigger: AttemptTrigger
  readonly started_at: number
  outcome: AttemptOutcome | null
}

export interface LaneRow {
  readonly lane: string
  readonly workspace: string
  settings: LaneSettings
  enabled: boolean
  owner: string | null
  serial: number
  fence: number
  readonly deliveries: Delivery[]
  /** When its first delivery falls due; null when that has to be looked up again. */
  work_at: number | null
}

export type Change =
  | { readonly type: 'moved'; readonly row: Delivery; readonly from: DeliveryState | null; readonly by: Actor }
  | { readonly type: 'granted' | 'paused' | 'resumed'; readonly lane: LaneRow }
  | { readonly type: 'opened' | 'closed'; readonly attempt: Attempt; readonly by: Actor }

/** Who changed a row: an operation, and the fence it spoke under where it had one. */
export interface Actor {
  readonly act: 'ingest' | 'recover' | 'begin' | 'settle' | 'pause' | 'resume' | 'replay' | 'cancel'
  readonly fence: number | null
}

/** Earlier than any time: a delivery left `sending` in a lane without an owner waits for nothing but a new one. */
export const LEFTOVER = -Infinity

export function dueAt(row: Delivery): number {
  return row.next_attempt_at ?? Infinity
}

export function workAt(lane: LaneRow): number {
  if (lane.work_at !== null) return lane.work_at
  let least = Infinity
  for (const row of lane.deliveries) least = Math.min(least, row.state === 'sending' ? LEFTOVER : dueAt(row))
  lane.work_at = least
  return least
}

export function hasWork(lane: LaneRow, now: number): boolean {
  return workAt(lane) <= now
}

export function firstBeforeRetry(a: Delivery, b: Delivery): number {
  if (a.state !== b.state) return a.state === 'pending' ? -1 : 1
  return dueAt(a) - dueAt(b)
}

export function lanesOf(begins: readonly Begin[]): Held[] {
  const byLane = new Map(begins.map(({ lane, fence }) => [`${lane}:${fence}`, { lane, fence }]))
  return [...byLane.values()]
}
