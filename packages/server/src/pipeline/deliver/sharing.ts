import { fairShare, NO_OTHERS, type Others } from '../../domain/delivery/fair-share.ts'
import type { MachineState } from './machine-state.ts'
import { isWorking, underWay, type Lane } from './lane.ts'
import type { DeliverLimits } from './limits.ts'
import type { LaneKey, Share } from './ports.ts'

interface Given {
  readonly fence: number
  /** The lane is not taken back before this. */
  readonly until: number
}

/** How long this owner remembers a lane that it gave, to see whether another owner took it. */
const REMEMBERED_MS = 60_000

/**
 * Chooses the lanes that this owner hands to others, so that all living owners share the lanes that have work. An owner that
 * has more than its fair share for a while hands the surplus over in rounds, lanes at rest first, and pauses in between.
 */
export class Sharing {
  readonly #state: MachineState
  readonly #given = new Map<LaneKey, Given>()
  #others: Others = NO_OTHERS
  #overSince: number | null = null
  #restUntil = -Infinity
  #restMs: number
  /** The last sweep left lanes to others. At the next sweep, anyone takes those that are still free. */
  #left = false
  #counted = { until: -Infinity, lanes: 0 }

  constructor(state: MachineState) {
    this.#state = state
    this.#restMs = state.limits.handOverRestMs
  }

  /** The report about this owner in its next lease call. */
  share(): Share {
    const { now } = this.#state
    const avoid: LaneKey[] = []
    for (const [key, given] of this.#given) {
      if (given.until > now) avoid.push(key)
      else if (given.until + REMEMBERED_MS < now) this.#given.delete(key)
    }
    return { held: this.working, avoid, fairly: !this.#left }
  }

  /** How many of this owner's lanes have work. Lanes that are about to be given back as idle do not count. */
  get working(): number {
    const { limits, lanes, now } = this.#state
    if (this.#counted.until <= now)
      this.#counted = { until: now + limits.countedMs, lanes: countWorking(lanes.values(), this.#state) }
    return this.#counted.lanes
  }

  swept(left: boolean): void {
    this.#left = left
  }

  /**
   * How many lanes this owner should take now, in addition to those that it has already `wanted`. `free`: lanes that no
   * owner counts yet.
   */
  room({ wanted, free }: { readonly wanted: number; readonly free: number }): number {
    if (this.#others.owners === 0) return free
    const held = this.working + wanted
    return Math.max(0, fairShare(held + free, this.#others) - held)
  }

  wasGiven(key: LaneKey): boolean {
    return (this.#given.get(key)?.until ?? -Infinity) > this.#state.now
  }

  gave(lane: Lane): void {
    this.#given.set(lane.key, { fence: lane.fence, until: this.#state.now + this.#state.limits.givenMs })
  }

  /**
   * If a lane comes back with the very next fence, no other owner took it. The others cannot take more, so the next
   * pause is longer.
   */
  granted({ key, fence }: Lane): void {
    const given = this.#given.get(key)
    if (given === undefined) return
    this.#given.delete(key)
    if (given.fence + 1 !== fence) return
    const { limits, now } = this.#state
    const restMs = Math.min(2 * this.#restMs, limits.handOverRestMsMax)
    this.#rest(restMs, now + restMs)
  }

  /** The timer fired during the handover. */
  timerFired(lane: Lane): void {
    const { now } = this.#state
    if (lane.mode !== 'draining' || lane.tenure.handOverUntil === null) return
    if (now >= lane.tenure.handOverUntil) this.#state.stay(lane)
    else this.#state.setTimer(lane, lane.tenure.handOverUntil)
  }

  /** The store has reported how many lanes the others have. */
  learn(others: Others): void {
    const { limits, now, stopping } = this.#state
    // A new owner may take lanes that the previous ones could not.
    if (others.owners !== this.#others.owners) this.#rest(limits.handOverRestMs, -Infinity)
    this.#others = others
    const surplus = stopping ? 0 : this.#surplus()
    if (surplus === 0) {
      this.#overSince = null
      return
    }
    this.#overSince ??= now
    // A single surplus lane may go away by itself soon.
    const patienceMs = surplus === 1 ? limits.overShareByOneMs : limits.overShareMs
    if (now - this.#overSince < patienceMs || now < this.#restUntil) return
    this.#handOver(Math.min(surplus, limits.handOversMax))
  }

  /** A new owner of the same process does not know which lanes the old one gave. */
  forget(): void {
    this.#given.clear()
    this.#others = NO_OTHERS
    this.#overSince = null
    this.#left = false
  }

  /** Lanes on their way out still count in the total, but no longer as this owner's. */
  #surplus(): number {
    if (this.#others.owners === 0) return 0
    const working = [...this.#state.lanes.values()].filter((lane) => isWorking(lane, this.#state))
    const open = working.filter((lane) => lane.mode === 'open').length
    const share = fairShare(working.length, this.#others)
    // A difference of a tenth is no reason to move anything.
    return open > share + Math.floor(share / 10) ? open - share : 0
  }

  #rest(ms: number, until: number): void {
    this.#restMs = ms
    this.#restUntil = until
  }

  #handOver(count: number): void {
    const { lanes, limits, now } = this.#state
    const movable = [...lanes.values()].filter(
      (lane) =>
        lane.mode === 'open' &&
        isWorking(lane, this.#state) &&
        lane.tenure.grantedAt + limits.heldMsMin <= now &&
        lane.tenure.retainedUntil <= now,
    )
    const chosen = movable.toSorted((a, b) => underWay(a) - underWay(b)).slice(0, count)
    if (chosen.length === 0) return
    this.#restUntil = now + this.#restMs
    for (const lane of chosen) this.#state.handOver(lane)
    this.#state.reached?.('handing_over')
  }
}

function countWorking(lanes: Iterable<Lane>, at: { limits: DeliverLimits; now: number }): number {
  let count = 0
  for (const lane of lanes) if (isWorking(lane, at)) count += 1
  return count
}
