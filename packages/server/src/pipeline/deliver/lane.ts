import { Breaker } from '../../domain/breaker.ts'
import { RateWindow } from '../../domain/rate-window.ts'
import type { LaneMemory } from '../../domain/lane-memory.ts'
import type { DeliverLimits } from './limits.ts'
import type { Grant, LaneSettings } from './ports.ts'

/**
 * `open`: works. `draining`: begins nothing, finishes what runs, then leaves. `leaving`: waits for its release.
 * `lost`: another fence is out; its requests may still end, and their settles try their luck.
 */
export type LaneMode = 'open' | 'draining' | 'leaving' | 'lost'

/** `recent`: only what has just come in, so that the store need not look at what came in days ago. */
export type Sought = 'nothing' | 'recent' | 'all'

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
  /** When requests of former owners that may be under way have ended at the latest, the first one first. They take slots until then. */
  orphans: readonly number[]
  unsettled: number
  reading: boolean
  /** What due deliveries the store may hold that are not in the buffer. */
  more: Sought
  /** Its settings may have changed: they come with the next read. */
  changed: boolean
  /** When the next delivery that the store told of falls due; null when none is known. */
  nextDue: number | null
  lastBusy: number
  /** The one alarm of this lane that counts; older ones in the heap are ignored. */
  alarmAt: number | null
  inReadyQueue: boolean
  inReadQueue: boolean
  breaker: Breaker
  /** Null until a rate limit is met. */
  rate: RateWindow | null
  /** What the next owner must know is to be written: `later` with any turn to come, at its release at the latest. */
  unnoted: 'no' | 'later' | 'soon'
  /** When that has waited long enough. */
  noteAt: number
  /** A turn that writes it is under way. */
  noting: boolean
  inNoteQueue: boolean
}

/** A lane as it is right after its grant: nothing known, everything to be read. */
export function openLane(grant: Grant, now: number): Lane {
  const { settings, memory } = grant
  const fits = memory?.breaker_resets === settings.breaker_resets
  return {
    key: grant.lane,
    fence: grant.fence,
    settings,
    mode: 'open',
    again: false,
    buffer: [],
    known: new Set(),
    beginning: 0,
    sending: 0,
    orphans: grant.orphans_end_in_ms.map((ms) => now + ms).toSorted((a, b) => a - b),
    unsettled: 0,
    reading: false,
    more: 'all',
    changed: false,
    nextDue: null,
    lastBusy: now,
    alarmAt: null,
    inReadyQueue: false,
    inReadQueue: false,
    breaker: Breaker.recall(fits ? memory.breaker : null, now),
    rate: memory === null || memory.rate === null ? null : RateWindow.recall(memory.rate, now),
    unnoted: 'no',
    noteAt: Infinity,
    noting: false,
    inNoteQueue: false,
  }
}

/** True when a delivery of this lane may be begun now. */
export function canBegin(lane: Lane, now: number): boolean {
  const busy = lane.beginning + lane.sending + orphansAt(lane, now)
  if (lane.mode !== 'open' || lane.buffer.length === 0 || busy >= lane.settings.max_in_flight) return false
  return busy < lane.breaker.room(now) && (lane.settings.rate_limit === null || rateFreeAt(lane, now) <= now)
}

/** How many requests of former owners may be under way. */
function orphansAt(lane: Lane, now: number): number {
  if (lane.orphans.length > 0) lane.orphans = lane.orphans.filter((endsAt) => endsAt > now)
  return lane.orphans.length
}

/** When the rate limit allows one more; `Infinity` when a turn must be answered first. What is begun is noted in its own commit. */
export function rateFreeAt(lane: Lane, now: number): number {
  const { rate_limit } = lane.settings
  if (rate_limit === null) return now
  if (lane.noting) return Infinity
  lane.rate ??= new RateWindow()
  return lane.rate.freeAt(rate_limit, { pending: lane.beginning, now })
}

/** True when the store should be asked for due deliveries. While a breaker is open it is asked when the probe is due. */
export function wantsRead(lane: Lane, at: { limits: DeliverLimits; now: number }): boolean {
  const may = lane.mode === 'open' && lane.more !== 'nothing' && !lane.reading && lane.buffer.length <= readLimit(lane, at.limits) / 2
  return may && (lane.changed || lane.breaker.state === 'closed' || lane.breaker.room(at.now) > lane.beginning + lane.sending)
}

/** When a quiet lane is looked at again, for hints may be lost: seldom where what waits must wait for a retry. */
export function lookAfterMs(lane: Lane, limits: DeliverLimits): number {
  const waits = lane.settings.ordered && lane.nextDue !== null && lane.buffer.length === 0 && isQuiet(lane)
  return waits ? limits.laneIdleMs : limits.sweepMs
}

/** What the lane's next owner must know now; null when it need not know anything. */
export function memoryOf(lane: Lane, now: number): LaneMemory | null {
  const breaker = lane.breaker.memory(now)
  const rate = lane.settings.rate_limit === null || lane.rate === null ? null : lane.rate.memory(lane.beginning, now)
  return breaker === null && rate === null ? null : { breaker, rate, breaker_resets: lane.settings.breaker_resets }
}

/** How many deliveries one read asks for: enough to keep the lane's slots busy through the next round trip. */
export function readLimit(lane: Lane, limits: DeliverLimits): number {
  return Math.min(limits.bufferedPerLaneMax, Math.max(limits.bufferedPerLaneMin, 4 * lane.settings.max_in_flight))
}

/** True when nothing runs for this lane: no begin, no request, no result that is not settled. */
export function isQuiet(lane: Lane): boolean {
  return lane.beginning + lane.sending + lane.unsettled === 0
}

/**
 * True when the lane can be given back without anybody noticing: it has nothing to do, or not before its next probe. One that
 * keeps an order is kept while anything waits in it: behind a retry there may be much that looks due to others and is not.
 */
export function isIdle(lane: Lane, limits: DeliverLimits, now: number): boolean {
  if (now - lane.lastBusy < limits.laneIdleMs || !isQuiet(lane) || lane.noting) return false
  const waitsUntil = lane.breaker.waitsUntil(now)
  if (waitsUntil !== null) return waitsUntil - now >= limits.laneIdleMs
  const dueSoon = lane.nextDue !== null && (lane.settings.ordered || lane.nextDue - now < limits.laneIdleMs)
  return lane.buffer.length === 0 && !lane.reading && lane.more === 'nothing' && !dueSoon
}
