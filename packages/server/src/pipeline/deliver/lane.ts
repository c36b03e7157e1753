import type { Grant, LaneSettings } from './ports.ts'
import type { DeliverLimits } from './limits.ts'

/**
 * `open`: works. `draining`: begins nothing, finishes what runs, then leaves. `leaving`: waits for its release.
 * `lost`: another fence is out; its requests may still end, and their settles try their luck.
 */
export type LaneMode = 'open' | 'draining' | 'leaving' | 'lost'

/** One destination while this process is its only sender. */
export interface Lane {
  readonly key: string
  readonly fence: number
  settings: LaneSettings
  mode: LaneMode
  /** Lease it again once it is released. */
  again: boolean
  /** Due deliveries, in the order they are to be begun. */
  buffer: string[]
  /** In `buffer` or in a turn that has not been answered. */
  readonly known: Set<string>
  beginning: number
  sending: number
  unsettled: number
  reading: boolean
  /** The store may hold due deliveries that are not in the buffer. */
  more: boolean
  /** When the next delivery that the store told of falls due; null when none is known. */
  nextDue: number | null
  lastBusy: number
  /** The one alarm of this lane that counts; older ones in the heap are ignored. */
  alarmAt: number | null
  inReadyQueue: boolean
  inReadQueue: boolean
}

/** A lane as it is right after its grant: nothing known, everything to be read. */
export function openLane(grant: Grant, now: number): Lane {
  return {
    key: grant.lane,
    fence: grant.fence,
    settings: grant.settings,
    mode: 'open',
    again: false,
    buffer: [],
    known: new Set(),
    beginning: 0,
    sending: 0,
    unsettled: 0,
    reading: false,
    more: true,
    nextDue: null,
    lastBusy: now,
    alarmAt: null,
    inReadyQueue: false,
    inReadQueue: false,
  }
}

/** True when a delivery of this lane may be begun now. */
export function canBegin(lane: Lane): boolean {
  return lane.mode === 'open' && lane.buffer.length > 0 && lane.beginning + lane.sending < lane.settings.max_in_flight
}

/** True when the store should be asked for due deliveries. */
export function wantsRead(lane: Lane, limits: DeliverLimits): boolean {
  return lane.mode === 'open' && lane.more && !lane.reading && lane.buffer.length <= readLimit(lane, limits) / 2
}

/** How many deliveries one read asks for: enough to keep the lane's slots busy through the next round trip. */
export function readLimit(lane: Lane, limits: DeliverLimits): number {
  return Math.min(limits.bufferedPerLaneMax, Math.max(limits.bufferedPerLaneMin, 4 * lane.settings.max_in_flight))
}

/** True when nothing runs for this lane: no begin, no request, no result that is not settled. */
export function isQuiet(lane: Lane): boolean {
  return lane.beginning + lane.sending + lane.unsettled === 0
}

/** True when the lane can be given back without anybody noticing. */
export function isIdle(lane: Lane, limits: DeliverLimits, now: number): boolean {
  const dueSoon = lane.nextDue !== null && lane.nextDue - now < limits.laneIdleMs
  const nothingToDo = isQuiet(lane) && lane.buffer.length === 0 && !lane.reading && !dueSoon
  return nothingToDo && now - lane.lastBusy >= limits.laneIdleMs
}
