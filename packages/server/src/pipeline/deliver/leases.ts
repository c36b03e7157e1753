import { memoryOf, openLane } from './lane.ts'
import type { Floor } from './floor.ts'
import type { Lane } from './lane.ts'
import type { Answer, Grant, LaneKey, Leased, Renewed } from './ports.ts'

interface LeaseCall {
  readonly op: number
  readonly issuedAt: number
  readonly wanted: readonly LaneKey[]
}

/** Which lanes this process holds: the owner's lease, the sweep for lanes nobody holds, hints, and giving lanes back. */
export class Leases {
  readonly #floor: Floor
  readonly #name: string
  /** A new owner each time the lease ran out, so that nothing of the old one can come back to life. */
  #epoch = 0
  #serial = 0
  #doubtfulFrom: number | null = null
  #renewAt = -Infinity
  #sweepAt = -Infinity
  #leasing: LeaseCall | null = null
  #renewing: Omit<LeaseCall, 'wanted'> | null = null
  #releasing: { readonly op: number; readonly lanes: readonly Lane[] } | null = null
  readonly #wanted = new Set<LaneKey>()
  readonly #elsewhere = new Map<LaneKey, number>()

  constructor(floor: Floor, name: string) {
    this.#floor = floor
    this.#name = name
  }

  get owner(): string {
    return `${this.#name}/${this.#epoch}`
  }

  get leasing(): boolean {
    return this.#leasing !== null
  }

  /** About settings: they may have changed, so the lane is read even while its breaker is open. */
  hint({ lanes, about }: { readonly lanes: readonly LaneKey[]; readonly about?: 'work' | 'settings' }): void {
    const floor = this.#floor
    for (const key of lanes) {
      const lane = floor.lanes.get(key)
      if (lane === undefined) this.#want(key)
      else if (lane.mode === 'open') {
        if (about === 'settings' || lane.more === 'nothing') lane.more = about === 'settings' ? 'all' : 'recent'
        lane.changed ||= about === 'settings'
        floor.askRead(lane)
      } else lane.again = true
    }
  }

  leased(op: number, answer: Answer<Leased>): void {
    const call = this.#leasing
    if (call?.op !== op) return
    this.#leasing = null
    const leased = this.#floor.valueOf(answer)
    if (leased === undefined) return this.#doubt(call, answer.outcome)
    if (!leased.alive) return this.#expired()
    this.#doubtfulFrom = null
    this.#extend(call.issuedAt)
    if (leased.more) this.#sweepAt = this.#floor.now
    for (const key of leased.elsewhere) this.#noteElsewhere(key)
    if (this.#floor.stopping) return
    for (const grant of leased.grants) this.#open(grant)
    if (leased.grants.length > 0) this.#floor.reached?.('granted')
  }

  renewed(op: number, answer: Answer<Renewed>): void {
    const call = this.#renewing
    if (call?.op !== op) return
    this.#renewing = null
    const renewed = this.#floor.valueOf(answer)
    if (renewed?.alive === true) this.#extend(call.issuedAt)
    if (renewed?.alive === false) this.#expired()
  }

  released(op: number, answer: Answer<null>): void {
    const call = this.#releasing
    if (call?.op !== op) return
    this.#releasing = null
    const done = this.#floor.valueOf(answer) !== undefined
    if (done) this.#floor.reached?.('released')
    const lanes = call.lanes.filter((lane) => lane.mode === 'leaving')
    for (const lane of lanes) {
      if (!done) {
        this.#floor.leaving.push(lane)
        continue
      }
      this.#floor.lose(lane)
      if (lane.again) this.#want(lane.key)
    }
  }

  /** Starts the calls that are due; one of each kind at a time. */
  advance(): void {
    const { now, lanes, leaving, limits, stopping } = this.#floor
    if (this.#renewing === null && lanes.size > 0 && now >= this.#renewAt) this.#renew()
    if (this.#releasing === null && leaving.size > 0) this.#release()
    const due = this.#wanted.size > 0 || now >= this.#sweepAt
    if (!stopping && due && this.#leasing === null && lanes.size < limits.lanesMax) this.#lease()
  }

  nextWakeAt(): number {
    const { lanes, limits, stopping } = this.#floor
    const sweepAt = stopping || this.leasing || lanes.size >= limits.lanesMax ? Infinity : this.#sweepAt
    return Math.min(sweepAt, this.#renewing !== null || lanes.size === 0 ? Infinity : this.#renewAt)
  }

  #open(grant: Grant): void {
    const floor = this.#floor
    // A release whose answer was lost: we are the next holder of a lane we still thought ours.
    const former = floor.lanes.get(grant.lane)
    if (former !== undefined) floor.lose(former)
    const lane = openLane(grant, floor.now)
    this.#wanted.delete(lane.key)
    floor.lanes.set(lane.key, lane)
    floor.askRead(lane)
    // While its breaker is open nothing else wakes it: what was left `sending` has been cleared up by the grant.
    const waitsUntil = lane.breaker.waitsUntil(floor.now)
    if (waitsUntil !== null) floor.alarm(lane, Math.min(waitsUntil, floor.now + floor.limits.laneIdleMs))
  }

  #lease(): void {
    const floor = this.#floor
    const mayHoldLanes = floor.lanes.size > 0 || this.#doubtfulFrom !== null
    if (!mayHoldLanes && !floor.alive) this.#nextEpoch()
    const swept = floor.now >= this.#sweepAt
    // A little early, so that processes started together do not sweep together.
    if (swept) this.#sweepAt = floor.now + floor.limits.sweepMs * (0.75 + floor.random() / 4)
    const wanted = [...this.#wanted]
    this.#wanted.clear()
    this.#serial += 1
    this.#leasing = { op: floor.nextOp(), issuedAt: floor.now, wanted }
    const input = {
      owner: this.owner,
      lease_ms: floor.limits.leaseMs,
      serial: this.#serial,
      doubtful_from: this.#doubtfulFrom,
      wanted,
      any_due: swept,
      lanes_max: Math.min(floor.limits.lanesPerLeaseMax, floor.limits.lanesMax - floor.lanes.size),
    }
    floor.emit({ type: 'lease', op: this.#leasing.op, input })
  }

  #renew(): void {
    const floor = this.#floor
    this.#renewing = { op: floor.nextOp(), issuedAt: floor.now }
    floor.emit({ type: 'renew', op: this.#renewing.op, input: { owner: this.owner, lease_ms: floor.limits.leaseMs } })
  }

  #release(): void {
    const floor = this.#floor
    const lanes = floor.leaving.take(floor.limits.lanesPerReleaseMax).filter((lane) => lane.mode === 'leaving')
    if (lanes.length === 0) return
    this.#releasing = { op: floor.nextOp(), lanes }
    const held = lanes.map((lane) => {
      const at = { lane: lane.key, fence: lane.fence }
      return lane.unnoted === 'no' ? at : { ...at, note: { serial: floor.nextOp(), memory: memoryOf(lane, floor.now) } }
    })
    floor.emit({ type: 'release', op: this.#releasing.op, input: { owner: this.owner, lanes: held } })
  }

  #extend(issuedAt: number): void {
    const { leaseMs, heartbeatMs } = this.#floor.limits
    this.#floor.leaseUntil = Math.max(this.#floor.leaseUntil, issuedAt + leaseMs)
    this.#renewAt = Math.max(this.#renewAt, issuedAt + heartbeatMs)
  }

  /** Lanes may have been granted without our knowing: the next call gives those back first. */
  #doubt(call: LeaseCall, outcome: 'done' | 'refused' | 'unknown'): void {
    if (outcome === 'unknown') this.#doubtfulFrom ??= this.#serial
    for (const key of call.wanted) this.#want(key)
    this.#sweepAt = this.#floor.now
  }

  #expired(): void {
    for (const lane of this.#floor.lanes.values()) this.#floor.lose(lane)
    this.#nextEpoch()
    this.#sweepAt = this.#floor.now
  }

  /** Answers to the old owner's calls are ignored from here on. */
  #nextEpoch(): void {
    this.#epoch += 1
    this.#leasing = null
    this.#renewing = null
    this.#releasing = null
    this.#serial = 0
    this.#doubtfulFrom = null
    this.#floor.leaseUntil = -Infinity
    this.#renewAt = -Infinity
  }

  #want(key: LaneKey): void {
    const { now, limits } = this.#floor
    if ((this.#elsewhere.get(key) ?? now) > now) return
    this.#elsewhere.delete(key)
    if (this.#wanted.size < limits.hintsMax) this.#wanted.add(key)
    else this.#sweepAt = now
  }

  #noteElsewhere(key: LaneKey): void {
    const { now, limits } = this.#floor
    this.#elsewhere.set(key, now + limits.elsewhereMs)
    const oldest = this.#elsewhere.size > limits.lanesMax ? this.#elsewhere.keys().next() : undefined
    if (oldest?.value !== undefined) this.#elsewhere.delete(oldest.value)
  }
}
