import { Breaker } from '../../domain/delivery/breaker.ts'
import { RateWindow } from '../../domain/delivery/rate-window.ts'
import { isProbeAsked, type LaneMemory } from '../../domain/delivery/lane-memory.ts'
import type { DeliverLimits } from './limits.ts'
import type { Grant, LaneSettings } from './ports.ts'
import type { Workspace } from './workspaces.ts'

/**
 * `open`: works. `draining`: starts nothing, finishes its requests, then leaves. `leaving`: waits for its release.
 * `lost`: a newer fence exists. Its requests may still end, and the machine still tries to settle them.
 */
export type LaneMode = 'open' | 'draining' | 'leaving' | 'lost'

/** `recent`: only deliveries that have just come in, so that the store need not search older days. */
export type Sought = 'nothing' | 'recent' | 'all'

/** One destination while this process is its only sender. Its parts are grouped by the component that writes them. */
export interface Lane {
  readonly key: string
  readonly fence: number
  /** The lanes of one workspace share slots. */
  readonly workspace: Workspace<Lane>
  /** Written by reads: the settings come with the due deliveries. */
  settings: LaneSettings
  /** Written by the machine's state. */
  mode: LaneMode
  readonly tenure: Tenure
  readonly queue: Queue
  readonly slots: Slots
  /** Attempts report to it how they end. A read replaces it when someone has closed the breaker manually. */
  breaker: Breaker
  /** Written by attempts; null until a rate limit is met. */
  rate: RateWindow | null
  readonly note: NoteState
  /** When the lane's only valid timer fires; older timers in the heap are ignored. Written by the machine's state. */
  timerAt: number | null
  /** When the lane last had something to do: a due delivery was read, or a request ended. */
  lastBusy: number
}

/** The time for which this process owns the lane. Leases and sharing write it through the machine's state. */
export interface Tenure {
  readonly grantedAt: number
  /** The lane is leased again once it is released. */
  again: boolean
  /** The lane leaves for another owner. Its requests must end by then; if they do not, the lane stays. */
  handOverUntil: number | null
  /** The lane could not be handed over in time, so the next handover starts no earlier than this. */
  retainedUntil: number
}

/** The deliveries to start. Reads fill it, and attempts empty it. */
export interface Queue {
  /** Due deliveries, in the order in which they are to start. */
  buffer: string[]
  /** The deliveries in `buffer` or in a turn that has not been answered. */
  readonly known: Set<string>
  reading: boolean
  inReadQueue: boolean
  /** The due deliveries that the store may have besides those in the buffer. */
  more: Sought
  /** The settings of the lane may have changed. The next read brings them. */
  changed: boolean
  /** When the next delivery that the store reported falls due; null when none is known. */
  nextDue: number | null
}

/** The work that is under way. Written by attempts. */
export interface Slots {
  beginning: number
  sending: number
  /** Requests that have ended but whose results are not committed. */
  unsettled: number
  /** The latest times at which requests of previous owners end, earliest first. Each takes a slot until then. */
  orphans: readonly number[]
  inReadyQueue: boolean
}

/** Whether the memory for the next owner is written. Written by lane notes. */
export interface NoteState {
  /** `later`: with any later turn, and with the release of the lane at the latest. */
  wanted: 'no' | 'later' | 'soon'
  /** From this time on, a wanted note counts as `soon`. */
  at: number
  /** A turn that writes the note is under way. */
  writing: boolean
  queued: boolean
}

/** A lane right after its grant: nothing is known, and everything has to be read. */
export function openLane(grant: Grant, { workspace, now }: { workspace: Workspace<Lane>; now: number }): Lane {
  const { settings, memory } = grant
  const fits = memory?.breaker_resets === settings.breaker_resets
  const breaker = Breaker.recall(fits ? memory.breaker : null, now)
  if (memory !== null && isProbeAsked(memory, settings.probes_asked)) breaker.probeNow(now)
  const orphans = grant.orphans_end_in_ms.map((ms) => now + ms).toSorted((a, b) => a - b)
  return {
    key: grant.lane,
    fence: grant.fence,
    workspace,
    settings,
    mode: 'open',
    tenure: { grantedAt: now, again: false, handOverUntil: null, retainedUntil: -Infinity },
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
    timerAt: null,
    lastBusy: now,
  }
}

/** True when an attempt of this lane may start now. */
export function canBegin(lane: Lane, now: number): boolean {
  if (!hasRoom(lane, now) || lane.queue.buffer.length === 0) return false
  return lane.settings.rate_limit === null || rateFreeAt(lane, now) <= now
}

/**
 * True when a delivery may start with the commit that stores it: none that the lane knows waits before it, and its start persists
 * nothing for the next owner.
 */
export function canBeginOnArrival(lane: Lane, now: number): boolean {
  const { ordered, rate_limit } = lane.settings
  if (lane.queue.buffer.length > 0 || ordered || rate_limit !== null) return false
  return lane.breaker.state === 'closed' && hasRoom(lane, now)
}

/** Also forgets the orphans that have ended. */
function hasRoom(lane: Lane, now: number): boolean {
  const busy = lane.slots.beginning + lane.slots.sending + orphansAt(lane, now)
  return lane.mode === 'open' && busy < lane.settings.max_in_flight && busy < lane.breaker.room(now)
}

/** How many requests of previous owners may still be under way. */
function orphansAt(lane: Lane, now: number): number {
  if (lane.slots.orphans.length > 0) lane.slots.orphans = lane.slots.orphans.filter((endsAt) => endsAt > now)
  return lane.slots.orphans.length
}

/**
 * When the rate limit allows one more request; `Infinity` when a turn must be answered first, because the turn that starts a
 * request also persists the rate.
 */
export function rateFreeAt(lane: Lane, now: number): number {
  const { rate_limit } = lane.settings
  if (rate_limit === null) return now
  if (lane.note.writing) return Infinity
  lane.rate ??= new RateWindow()
  return lane.rate.freeAt(rate_limit, { pending: lane.slots.beginning, now })
}

/** True when the machine should ask the store for due deliveries. While a breaker is open, it asks when the probe is due. */
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

/**
 * How long until a quiet lane is checked again, because hints may be lost. The time is long for a lane whose next delivery must
 * wait for a retry.
 */
export function lookAfterMs(lane: Lane, limits: DeliverLimits): number {
  const waits = lane.settings.ordered && lane.queue.nextDue !== null && lane.queue.buffer.length === 0 && isQuiet(lane)
  return waits ? limits.laneIdleMs : limits.sweepMs
}

/** The memory that the lane's next owner needs; null when it needs none. */
export function memoryOf(lane: Lane, now: number): LaneMemory | null {
  const breaker = lane.breaker.memory(now)
  const rate =
    lane.settings.rate_limit === null || lane.rate === null ? null : lane.rate.memory(lane.slots.beginning, now)
  if (breaker === null && rate === null) return null
  const { breaker_resets, probes_asked } = lane.settings
  return { breaker, rate, breaker_resets, probes_asked }
}

/** How many deliveries one read asks for: enough to fill the lane's slots during the next round trip. */
export function readLimit(lane: Lane, limits: DeliverLimits): number {
  return Math.min(limits.bufferedPerLaneMax, Math.max(limits.bufferedPerLaneMin, 4 * lane.settings.max_in_flight))
}

/** How many starts, requests and unsettled results this lane has under way. */
export function underWay({ slots }: Lane): number {
  return slots.beginning + slots.sending + slots.unsettled
}

/** True when nothing is under way in this lane. */
export function isQuiet(lane: Lane): boolean {
  return underWay(lane) === 0
}

/** True when the lane has had something to do recently. */
export function isWorking(lane: Lane, { limits, now }: { limits: DeliverLimits; now: number }): boolean {
  return now - lane.lastBusy < limits.workingMs
}

/**
 * True when this process can give the lane back without any effect: it has nothing to do, or nothing before its next probe. A
 * lane with an order is not given back while anything waits in it, because many deliveries behind a retry look due to other
 * owners but are not.
 */
export function isIdle(lane: Lane, limits: DeliverLimits, now: number): boolean {
  if (now - lane.lastBusy < limits.laneIdleMs || !isQuiet(lane) || lane.note.writing) return false
  const waitsUntil = lane.breaker.waitsUntil(now)
  if (waitsUntil !== null) return waitsUntil - now >= limits.laneIdleMs
  const dueSoon = lane.queue.nextDue !== null && (lane.settings.ordered || lane.queue.nextDue - now < limits.laneIdleMs)
  return lane.queue.buffer.length === 0 && !lane.queue.reading && lane.queue.more === 'nothing' && !dueSoon
}
