import { memoryOf, openLane } from './lane.ts'
import { Sharing } from './sharing.ts'
import type { MachineState } from './machine-state.ts'
import type { Lane } from './lane.ts'
import type { Answer, Grant, LaneKey, Leased, Renewed } from './ports.ts'

interface LeaseCall {
  readonly op: number
  readonly issuedAt: number
  readonly wanted: readonly LaneKey[]
  readonly swept: boolean
}

/**
 * The lanes that this process owns: the owner's lease, the sweep for free lanes, hints, and lanes that are given back or
 * handed over.
 */
export class Leases {
  readonly #state: MachineState
  readonly #name: string
  readonly #sharing: Sharing
  /** Each time the lease expires, the process becomes a new owner, so that no late call of the old owner can take effect. */
  #epoch = 0
  #serial = 0
  #doubtfulFrom: number | null = null
  #renewAt = -Infinity
  #sweepAt = -Infinity
  #leasing: LeaseCall | null = null
  #renewing: Pick<LeaseCall, 'op' | 'issuedAt'> | null = null
  #releasing: { readonly op: number; readonly lanes: readonly Lane[] } | null = null
  readonly #wanted = new Set<LaneKey>()
  readonly #elsewhere = new Map<LaneKey, number>()
  /** Lanes to request once the other owners have had their chance, earliest first. */
  readonly #later = new Map<LaneKey, number>()

  constructor(state: MachineState, name: string) {
    this.#state = state
    this.#name = name
    this.#sharing = new Sharing(state)
  }

  get owner(): string {
    return `${this.#name}/${this.#epoch}`
  }

  get leasing(): boolean {
    return this.#leasing !== null
  }

  /** A hint about settings: they may have changed, so the lane is read even while its breaker is open. */
  hint({ lanes, about }: { readonly lanes: readonly LaneKey[]; readonly about?: 'work' | 'settings' }): void {
    const state = this.#state
    for (const key of lanes) {
      const lane = state.lanes.get(key)
      if (lane === undefined) this.#wantHinted(key)
      else if (lane.mode === 'open') {
        if (about === 'settings' || lane.queue.more === 'nothing')
          lane.queue.more = about === 'settings' ? 'all' : 'recent'
        lane.queue.changed ||= about === 'settings'
        state.askRead(lane)
        // The next owner of the lane gets this hint too.
      } else if (lane.tenure.handOverUntil === null) lane.tenure.again = true
      else lane.queue.changed ||= about === 'settings'
    }
  }

  /**
   * Another owner has more than its share. Each owner takes at random as many lanes as it lacks, so that several owners pick
   * different ones.
   */
  offered(lanes: readonly LaneKey[]): void {
    const { lanes: held, random } = this.#state
    const free = lanes.filter((key) => !held.has(key) && !this.#sharing.wasGiven(key))
    let room = this.#sharing.room({ wanted: this.#wanted.size, free: 0 })
    while (free.length > 0) {
      const [key] = free.splice(Math.floor(random() * free.length), 1)
      if (key === undefined) return
      this.#elsewhere.delete(key)
      if (room > 0) this.#want(key)
      else this.#wantLater(key)
      room -= 1
    }
  }

  timerFired(lane: Lane): void {
    this.#sharing.timerFired(lane)
  }

  leased(op: number, answer: Answer<Leased>): void {
    const call = this.#leasing
    if (call?.op !== op) return
    this.#leasing = null
    const leased = this.#state.valueOf(answer)
    if (leased === undefined) return this.#doubt(call, answer.outcome)
    if (!leased.alive) return this.#expired()
    this.#doubtfulFrom = null
    this.#extend(call.issuedAt)
    if (call.swept) this.#sharing.swept(leased.left)
    if (leased.more) this.#sweepAt = this.#state.now
    for (const key of leased.elsewhere) this.#noteElsewhere(key)
    if (this.#state.stopping) return
    for (const grant of leased.grants) this.#open(grant)
    if (leased.grants.length > 0) this.#state.reached?.('granted')
    this.#sharing.learn(leased.others)
  }

  renewed(op: number, answer: Answer<Renewed>): void {
    const call = this.#renewing
    if (call?.op !== op) return
    this.#renewing = null
    const renewed = this.#state.valueOf(answer)
    if (renewed === undefined) return
    if (!renewed.alive) return this.#expired()
    this.#extend(call.issuedAt)
    this.#sharing.learn(renewed.others)
  }

  released(op: number, answer: Answer<null>): void {
    const call = this.#releasing
    if (call?.op !== op) return
    this.#releasing = null
    const done = this.#state.valueOf(answer) !== undefined
    if (done) this.#state.reached?.('released')
    const lanes = call.lanes.filter((lane) => lane.mode === 'leaving')
    for (const lane of lanes) {
      if (!done) {
        this.#state.leaving.push(lane)
        continue
      }
      this.#state.lose(lane)
      if (lane.tenure.handOverUntil !== null) this.#sharing.gave(lane)
      else if (lane.tenure.again) this.#want(lane.key)
    }
  }

  /** Starts the calls that are due, one of each kind at a time. */
  advance(): void {
    const { now, lanes, leaving, limits, stopping } = this.#state
    if (this.#renewing === null && lanes.size > 0 && now >= this.#renewAt) this.#renew()
    if (this.#releasing === null && leaving.size > 0) this.#release()
    if (this.#later.size > 0) this.#wantNow()
    const due = this.#wanted.size > 0 || now >= this.#sweepAt
    if (!stopping && due && this.#leasing === null && lanes.size < limits.lanesMax) this.#lease()
  }

  nextWakeAt(): number {
    const { lanes, limits, stopping } = this.#state
    const sweepAt = stopping || this.leasing || lanes.size >= limits.lanesMax ? Infinity : this.#sweepAt
    const laterAt = stopping || this.leasing ? Infinity : this.#nextLaterAt()
    return Math.min(sweepAt, laterAt, this.#renewing !== null || lanes.size === 0 ? Infinity : this.#renewAt)
  }

  #open(grant: Grant): void {
    const state = this.#state
    // The answer to a release was lost, so we are the next owner of a lane that we still considered ours.
    const previous = state.lanes.get(grant.lane)
    if (previous !== undefined) state.lose(previous)
    const lane = openLane(grant, { workspace: state.workspaces.joined(grant.workspace), now: state.now })
    this.#wanted.delete(lane.key)
    state.lanes.set(lane.key, lane)
    this.#sharing.granted(lane)
    state.askRead(lane)
    // Nothing else wakes the lane while its breaker is open: the grant has already recovered the deliveries left `sending`.
    const waitsUntil = lane.breaker.waitsUntil(state.now)
    if (waitsUntil !== null) state.setTimer(lane, Math.min(waitsUntil, state.now + state.limits.laneIdleMs))
  }

  #lease(): void {
    const state = this.#state
    const mayOwnLanes = state.lanes.size > 0 || this.#doubtfulFrom !== null
    if (!mayOwnLanes && !state.alive) this.#nextEpoch()
    const swept = state.now >= this.#sweepAt
    // The sweep is early by a random amount, so that processes that started together do not sweep together.
    if (swept) this.#sweepAt = state.now + state.limits.sweepMs * (0.75 + state.random() / 4)
    const wanted = [...this.#wanted]
    this.#wanted.clear()
    this.#serial += 1
    this.#leasing = { op: state.nextOp(), issuedAt: state.now, wanted, swept }
    const input = {
      owner: this.owner,
      lease_ms: state.limits.leaseMs,
      serial: this.#serial,
      doubtful_from: this.#doubtfulFrom,
      wanted,
      any_due: swept,
      lanes_max: Math.min(state.limits.lanesPerLeaseMax, state.limits.lanesMax - state.lanes.size),
      share: this.#sharing.share(),
    }
    state.emit({ type: 'lease', op: this.#leasing.op, input })
  }

  #renew(): void {
    const state = this.#state
    this.#renewing = { op: state.nextOp(), issuedAt: state.now }
    const input = { owner: this.owner, lease_ms: state.limits.leaseMs, held: this.#sharing.working }
    state.emit({ type: 'renew', op: this.#renewing.op, input })
  }

  #release(): void {
    const state = this.#state
    const lanes = state.leaving.take(state.limits.lanesPerReleaseMax).filter((lane) => lane.mode === 'leaving')
    if (lanes.length === 0) return
    this.#releasing = { op: state.nextOp(), lanes }
    const held = lanes.map((lane) => {
      const at = { lane: lane.key, fence: lane.fence }
      return lane.note.wanted === 'no'
        ? at
        : { ...at, note: { serial: state.nextOp(), memory: memoryOf(lane, state.now) } }
    })
    const offered = lanes.filter((lane) => lane.tenure.handOverUntil !== null).map((lane) => lane.key)
    state.emit({ type: 'release', op: this.#releasing.op, input: { owner: this.owner, lanes: held }, offered })
  }

  #extend(issuedAt: number): void {
    const { leaseMs, heartbeatMs } = this.#state.limits
    this.#state.leaseUntil = Math.max(this.#state.leaseUntil, issuedAt + leaseMs)
    this.#renewAt = Math.max(this.#renewAt, issuedAt + heartbeatMs)
  }

  /** The call may have granted lanes without our knowledge. The next call first gives those back. */
  #doubt(call: LeaseCall, outcome: 'done' | 'refused' | 'unknown'): void {
    if (outcome === 'unknown') this.#doubtfulFrom ??= this.#serial
    for (const key of call.wanted) this.#want(key)
    this.#sweepAt = this.#state.now
  }

  #expired(): void {
    for (const lane of this.#state.lanes.values()) this.#state.lose(lane)
    this.#nextEpoch()
    this.#sweepAt = this.#state.now
  }

  /** From here on, answers to calls of the old owner are ignored. */
  #nextEpoch(): void {
    this.#epoch += 1
    this.#leasing = null
    this.#renewing = null
    this.#releasing = null
    this.#serial = 0
    this.#doubtfulFrom = null
    this.#sharing.forget()
    this.#state.leaseUntil = -Infinity
    this.#renewAt = -Infinity
  }

  #wantHinted(key: LaneKey): void {
    if (this.#sharing.wasGiven(key)) return
    if (this.#sharing.room({ wanted: this.#wanted.size, free: 1 }) > 0) this.#want(key)
    else this.#wantLater(key)
  }

  /** An owner with less than its share comes first, and it gets the same hint. */
  #wantLater(key: LaneKey): void {
    const { now, limits } = this.#state
    if ((this.#elsewhere.get(key) ?? now) > now) return
    if (!this.#later.has(key) && this.#later.size < limits.hintsMax) this.#later.set(key, now + limits.othersFirstMs)
  }

  #wantNow(): void {
    const { lanes, now } = this.#state
    for (const [key, at] of this.#later) {
      if (at > now) return
      this.#later.delete(key)
      if (!lanes.has(key)) this.#want(key)
    }
  }

  #nextLaterAt(): number {
    for (const at of this.#later.values()) return at
    return Infinity
  }

  #want(key: LaneKey): void {
    const { now, limits } = this.#state
    if ((this.#elsewhere.get(key) ?? now) > now) return
    this.#elsewhere.delete(key)
    if (this.#wanted.size < limits.hintsMax) this.#wanted.add(key)
    else this.#sweepAt = now
  }

  #noteElsewhere(key: LaneKey): void {
    const { now, limits } = this.#state
    this.#elsewhere.set(key, now + limits.elsewhereMs)
    const oldest = this.#elsewhere.size > limits.lanesMax ? this.#elsewhere.keys().next() : undefined
    if (oldest?.value !== undefined) this.#elsewhere.delete(oldest.value)
  }
}
