/** The rows of the model, the changes that a transaction reports to its watcher, and small functions of rows. */
import { LIMITS } from '@postroad/contract'
import type {
  AttemptOutcome,
  AttemptTrigger,
  DeliveryState,
  PauseReason,
} from '../src/domain/delivery/delivery-state.ts'
import { DELIVER_LIMITS } from '../src/pipeline/deliver/limits.ts'
import type { LaneMemory } from '../src/domain/delivery/lane-memory.ts'
import type { Begin, Held, LaneRead, LaneSettings } from '../src/pipeline/deliver/ports.ts'

export interface Delivery {
  readonly delivery_id: string
  readonly record_id: string
  readonly lane: string
  readonly came_at: number
  state: DeliveryState
  pause_reason: PauseReason | null
  next_attempt_at: number | null
  next_trigger: AttemptTrigger
  attempt_count: number
  failure_count: number
  open_attempt_id: string | null
  /** Null in a lane without an order. */
  readonly order_key: string | null
  order_seq: number
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
  /** Whether its failure used up a step of the schedule. */
  counted: boolean
}

export interface Orphan {
  readonly attempt_id: string
  readonly ends_by: number
}

export interface LaneRow {
  readonly lane: string
  readonly workspace: string
  settings: LaneSettings
  enabled: boolean
  owner: string | null
  serial: number
  fence: number
  memory: LaneMemory | null
  remembered_at: number
  note_serial: number
  /** Nothing in the lane is due before this; null when its breaker sets no such time. */
  waits_until: number | null
  /** Requests that a new owner must assume to be under way, by attempt. */
  orphans: readonly Orphan[]
  /** Its workspace was suspended or reinstated, and its deliveries may not have been moved yet. */
  unswept: boolean
  /** When its destination was last changed. Its timeout may have been different before. */
  changed_at: number
  readonly deliveries: Delivery[]
  /** When its first delivery falls due; null when that must be computed again. */
  work_at: number | null
}

export type Change =
  | { readonly type: 'moved'; readonly row: Delivery; readonly from: DeliveryState | null; readonly by: Actor }
  | { readonly type: 'granted' | 'paused' | 'resumed' | 'noting'; readonly lane: LaneRow }
  | { readonly type: 'opened' | 'closed'; readonly attempt: Attempt; readonly by: Actor }
  /** The plan of a workspace has changed, or a new month has started. */
  | { readonly type: 'allowed'; readonly workspace: string; readonly max: number | null; readonly turned: boolean }

/** The operation that changed a row, and its fence if it had one. */
export interface Actor {
  readonly act: 'ingest' | 'recover' | 'begin' | 'settle' | 'pause' | 'resume' | 'replay' | 'cancel' | 'release'
  readonly fence: number | null
}

/** One step of a transaction. */
export interface Step {
  readonly now: number
  readonly actor: Actor
  readonly nextAt?: number
  readonly from?: DeliveryState | null
  readonly counted?: boolean
  /** The reason for the pause of the delivery. Defaults to the state of its destination. */
  readonly reason?: PauseReason
}

/** The attempt that a delivery starts now. */
export function openAttempt({ lane, fence, delivery_id }: Begin, row: Delivery, now: number): Attempt {
  // oxlint-disable-line max-params -- the start, the delivery, and the time
  const { attempt_count: attempt_number, next_trigger: trigger } = row
  const attempt_id = `${delivery_id}#${attempt_number}`
  const started = { trigger, started_at: now, outcome: null, counted: false }
  return { attempt_id, delivery_id, lane, fence, attempt_number, ...started }
}

/** Earlier than any time: a delivery left `sending` in a lane without an owner waits only for a new owner. */
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

/** When a new owner has work: deliveries left `sending` are ready immediately, all others wait for the breaker. */
export function readyAt(lane: LaneRow): number {
  const at = workAt(lane)
  return at === LEFTOVER ? at : Math.max(at, lane.waits_until ?? -Infinity)
}

export function hasWork(lane: LaneRow, now: number): boolean {
  return readyAt(lane) <= now
}

function firstBeforeRetry(a: Delivery, b: Delivery): number {
  if (a.state !== b.state) return a.state === 'pending' ? -1 : 1
  return dueAt(a) - dueAt(b)
}

/** The due deliveries of a lane, first attempts before retries, and the wait until the next one. */
export function dueIn(
  { deliveries }: LaneRow,
  asked: { now: number; limit: number; exclude: readonly string[]; passedOver: (row: Delivery) => boolean },
): Pick<LaneRead, 'due' | 'next_due_in_ms'> {
  const { now, limit, exclude, passedOver } = asked
  const waiting = deliveries.filter(
    (row) => row.next_attempt_at !== null && !exclude.includes(row.delivery_id) && !passedOver(row),
  )
  const due = waiting
    .filter((row) => dueAt(row) <= now)
    .toSorted(firstBeforeRetry)
    .slice(0, limit)
  const later = waiting.map(dueAt).filter((at) => at > now)
  return {
    due: due.map((row) => row.delivery_id),
    next_due_in_ms: later.length === 0 ? null : Math.min(...later) - now,
  }
}

const SETTLED_MS = 60_000

/** A request whose end nobody will hear of, and the latest time of its end. */
export function orphanOf(lane: LaneRow, { attempt_id, started_at }: Attempt): Orphan {
  const longestMs = lane.changed_at > started_at - SETTLED_MS ? LIMITS.deliveryTimeoutMsMax : lane.settings.timeout_ms
  return { attempt_id, ends_by: started_at + DELIVER_LIMITS.staleBeginMsMax + longestMs }
}

/** How long each orphan can still be under way. */
export function orphansEndIn(lane: LaneRow, now: number): readonly number[] {
  if (lane.orphans.length > 0) lane.orphans = lane.orphans.filter(({ ends_by }) => ends_by > now)
  return lane.orphans.map(({ ends_by }) => ends_by - now)
}

const OUTSTANDING: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'paused']

/** True when an earlier delivery with the same key has not ended. */
export function mustWait({ order_key, order_seq }: Delivery, { deliveries }: LaneRow): boolean {
  if (order_key === null) return false
  return deliveries.some(
    (row) => row.order_key === order_key && row.order_seq < order_seq && OUTSTANDING.includes(row.state),
  )
}

export function lanesOf(begins: readonly Begin[]): Held[] {
  const byLane = new Map(begins.map(({ lane, fence }) => [`${lane}:${fence}`, { lane, fence }]))
  return [...byLane.values()]
}

export const NEW_LANE = {
  enabled: true,
  owner: null,
  serial: 0,
  fence: 0,
  memory: null,
  remembered_at: 0,
  note_serial: 0,
  waits_until: null,
  orphans: [],
  unswept: false,
  changed_at: -Infinity,
  work_at: null,
} as const
const NEW_DELIVERY = {
  state: 'pending',
  pause_reason: null,
  next_trigger: 'initial',
  attempt_count: 0,
  failure_count: 0,
  open_attempt_id: null,
} as const

/** A delivery as it comes in. */
export type Item = Pick<Delivery, 'delivery_id' | 'record_id' | 'lane'> & { readonly order_key?: string | null }

export function newDelivery(item: Item, seq: number, now: number): Delivery {
  // oxlint-disable-line max-params -- the delivery, its place in the order, and the time
  const { order_key = null } = item
  return { ...item, ...NEW_DELIVERY, came_at: now, order_key, order_seq: seq, next_attempt_at: now }
}
