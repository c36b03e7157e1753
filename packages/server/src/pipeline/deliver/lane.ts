import { Breaker } from '../../domain/delivery/breaker.ts'
import { RateWindow } from '../../domain/delivery/rate-window.ts'
import { isProbeAsked, type LaneMemory } from '../../domain/delivery/lane-memory.ts'
import type { DeliverLimits } from './limits.ts'
import type { Grant, LaneSettings } from './ports.ts'

/**
 * `open`: works. `draining`: begins nothing, finishes what runs, then leaves. `leaving`: waits for its release.
 * `lost`: another fence is out; its requests may still end, and their settles try their luck.
 */
export type LaneMode = 'open' | 'draining' | 'leaving' | 'lost'

/** `recent`: only what has just come in, so that the store need not look at what came in days ago. */
export type Sought = 'nothing' | 'recent' | 'all'

/** One destination while this process is its only sender, in parts by what writes them. */
export interface Lane {
  readonly key: string
  readonly fence: number
  /** Written by reads: settings come with what is due. */
  settings: LaneSettings
  /** Written by the machine's state. */
  mode: LaneMode
  readonly tenure: Tenure
  readonly queue: Queue
  readonly slots: Slots
  /** Learns from attempts how they end; a read replaces it when somebody has closed it by hand. */
  breaker: Breaker
  /** Written by attempts; null until a rate limit is met. */
  rate: RateWindow | null
  readonly note: NoteState
  /** The one alarm of this lane that counts; older ones in the heap are ignored. Written by the machine's state. */
  alarmAt: number | null
  /** When it last had something to do: a due delivery was read, or a request ended. */
  lastBusy: number
}

/** For how long this process keeps the lane. Written by leases and sharing, by way of the machine's state. */
export interface Tenure {
  readonly grantedAt: number
  /** Lease it again once it is released. */
  again: boolean
  /** It leaves for another owner. Its requests have until then to end; if they do not, it stays. */
  handOverUntil: number | null
  /** It was not handed over in time, so it is not tried again before this. */
  keptUntil: number
}

/** What is to be begun. Filled by reads, emptied by attempts. */
export interface Queue {
  /** Due deliveries, in the order they are to be begun. */
  buffer: string[]
  /** In `buffer` or in a turn that has not been answered. */
  readonly known: Set<string>
  reading: boolean
  inReadQueue: boolean
  /** What due deliveries the store may hold that are not in the buffer. */
  more: Sought
  /** Its settings may have changed: they come with the next read. */
  changed: boolean
  /** When the next delivery that the store reported falls due; null when none is known. */
  nextDue: number | null
}

/** What is under way. Written by attempts. */
export interface Slots {
  beginning: number
  sending: number
  /** Requests that have ended and whose results are not committed. */
  unsettled: number
  /** When requests of previous owners that may be under way have ended at the latest, the first one first. They take slots until then. */
  orphans: readonly number[]
  inReadyQueue: boolean
}

/** Whether what the next owner must know is written. Written by lane notes. */
export interface NoteState {
  /** `later`: with any turn to come, at the lane's release at the latest. */
  wanted: 'no' | 'later' | 'soon'
  /** When that has waited long enough. */
  at: number
  /** A turn that writes it is under way. */
  writing: boolean
  queued: boolean
}

/** A lane as it is right after its grant: nothing known, everything to be read. */
export function openLane(grant: Grant, now: number): Lane {
  const { settings, memory } = grant
  const fits = memory?.breaker_resets === settings.breaker_resets
  const breaker = Breaker.recall(fits ? memory.breaker : null, now)
  if (memory !== null && isProbeAsked(memory, settings.probes_asked)) breaker.probeNow(now)
  const orphans = grant.orphans_end_in_ms.map((ms) => now + ms).toSorted((a, b) => a - b)
  return {
    key: grant.lane,
    fence: grant.fence,
    settings,
    mode: 'open',
    tenure: { grantedAt: now, again: false, handOverUntil: null, keptUntil: -Infinity },
    queue: {
      buffer: [],
      known: new Set(),
      reading: false,
      inReadQueue: false,
      more: 'all',
      changed: false,
      nextDue: null,
    },
    slots: { beginning: 0, sending: 0, unsettled: 0, orphans, inReadyQueue: false },
    breaker,
    rate: memory === null || memory.rate === null ? null : RateWindow.recall(memory.rate, now),
    note: { wanted: 'no', at: Infinity, writing: false, queued: false },
    alarmAt: null,
    lastBusy: now,
  }
}

/** True when a delivery of this lane may be begun now. */
export function canBegin(lane: Lane, now: number): boolean {
  const busy = lane.slots.beginning + lane.slots.sending + orphansAt(lane, now)
  if (lane.mode !== 'open' || lane.queue.buffer.length === 0 || busy >= lane.settings.max_in_flight) return false
  return busy < lane.breaker.room(now) && (lane.settings.rate_limit === null || rateFreeAt(lane, now) <= now)
}

/** How many requests of previous owners may be under way. */
function orphansAt(lane: Lane, now: number): number {
  if (lane.slots.orphans.length > 0) lane.slots.orphans = lane.slots.orphans.filter((endsAt) => endsAt > now)
  return lane.slots.orphans.length
}

/** When the rate limit allows one more; `Infinity` when a turn must be answered first. What is begun is noted in its own commit. */
export function rateFreeAt(lane: Lane, now: number): number {
  const { rate_limit } = lane.settings
  if (rate_limit === null) return now
  if (lane.note.writing) return Infinity
  lane.rate ??= new RateWindow()
  return lane.rate.freeAt(rate_limit, { pending: lane.slots.beginning, now })
}

/** True when the store should be asked for due deliveries. While a breaker is open it is asked when the probe is due. */
export function wantsRead(lane: Lane, at: { limits: DeliverLimits; now: number }): boolean {
  const may =
    lane.mode === 'open' &&
    lane.queue.more !== 'nothing' &&
    !lane.queue.reading &&
    lane.queue.buffer.length <= readLimit(lane, at.limits) / 2
  return (
    may &&
    (lane.queue.changed ||
      lane.breaker.state === 'closed' ||
      lane.breaker.room(at.now) > lane.slots.beginning + lane.slots.sending)
  )
}

/** When a quiet lane is looked at again, for hints may be lost: seldom where what waits must wait for a retry. */
export function lookAfterMs(lane: Lane, limits: DeliverLimits): number {
  const waits = lane.settings.ordered && lane.queue.nextDue !== null && lane.queue.buffer.length === 0 && isQuiet(lane)
  return waits ? limits.laneIdleMs : limits.sweepMs
}

/** What the lane's next owner must know now; null when it need not know anything. */
export function memoryOf(lane: Lane, now: number): LaneMemory | null {
  const breaker = lane.breaker.memory(now)
  const rate =
    lane.settings.rate_limit === null || lane.rate === null ? null : lane.rate.memory(lane.slots.beginning, now)
  if (breaker === null && rate === null) return null
  const { breaker_resets, probes_asked } = lane.settings
  return { breaker, rate, breaker_resets, probes_asked }
}

/** How many deliveries one read asks for: enough to keep the lane's slots busy through the next round trip. */
export function readLimit(lane: Lane, limits: DeliverLimits): number {
  return Math.min(limits.bufferedPerLaneMax, Math.max(limits.bufferedPerLaneMin, 4 * lane.settings.max_in_flight))
}

/** True when nothing runs for this lane: no begin, no request, no result that is not settled. */
export function isQuiet(lane: Lane): boolean {
  return lane.slots.beginning + lane.slots.sending + lane.slots.unsettled === 0
}

/** True when it has had something to do just now. */
export function isWorking(lane: Lane, { limits, now }: { limits: DeliverLimits; now: number }): boolean {
  return now - lane.lastBusy < limits.workingMs
}

/**
 * True when the lane can be given back without anybody noticing: it has nothing to do, or not before its next probe. One that
 * keeps an order is kept while anything waits in it: behind a retry there may be much that looks due to others and is not.
 */
export function isIdle(lane: Lane, limits: DeliverLimits, now: number): boolean {
  if (now - lane.lastBusy < limits.laneIdleMs || !isQuiet(lane) || lane.note.writing) return false
  const waitsUntil = lane.breaker.waitsUntil(now)
  if (waitsUntil !== null) return waitsUntil - now >= limits.laneIdleMs
  const dueSoon = lane.queue.nextDue !== null && (lane.settings.ordered || lane.queue.nextDue - now < limits.laneIdleMs)
  return lane.queue.buffer.length === 0 && !lane.queue.reading && lane.queue.more === 'nothing' && !dueSoon
}
