/** The rows of the model's store, and reads of them. Nothing here changes a delivery. */
import { Allowances } from './allowances.ts'
import { hasWork, NEW_LANE, readyAt, workAt } from './rows.ts'
import { processOf, type Others } from '../src/domain/delivery/fair-share.ts'
import type { PauseReason } from '../src/domain/delivery/delivery-state.ts'
import { NO_SHARE, type Held, type LeaseInput } from '../src/pipeline/deliver/ports.ts'
import type { Attempt, Delivery, LaneRow } from './rows.ts'

export class Tables {
  #lastSeq = 0
  readonly lanes = new Map<string, LaneRow>()
  readonly deliveries = new Map<string, Delivery>()
  readonly attempts = new Map<string, Attempt>()
  readonly suspended = new Set<string>()
  readonly allowances = new Allowances()
  readonly owners = new Map<string, { until: number; serial: number; lanes: number; left: boolean }>()

  addLane(lane: Pick<LaneRow, 'lane' | 'workspace' | 'settings'>): void {
    this.lanes.set(lane.lane, { ...lane, ...NEW_LANE, deliveries: [] })
  }

  lane(key: string): LaneRow {
    const lane = this.lanes.get(key)
    if (lane === undefined) throw new Error(`no lane ${key}`)
    return lane
  }

  pauseReason(lane: LaneRow): PauseReason | null {
    if (this.suspended.has(lane.workspace)) return 'workspace_suspended'
    return lane.enabled ? null : 'destination_disabled'
  }

  /** When a lease call by a new owner would next find work; Infinity when never. */
  nextWorkAt(now: number): number {
    let least = Infinity
    for (const lane of this.lanes.values()) {
      const freeAt = this.isHeld(lane, now) ? (this.owners.get(lane.owner ?? '')?.until ?? now) : now
      if (lane.unswept) least = Math.min(least, this.pauseReason(lane) === null ? now : freeAt)
      if (freeAt < least) least = Math.min(least, Math.max(freeAt, readyAt(lane)))
    }
    return least
  }

  /** The reports of the other living owners. */
  protected othersOf(owner: string, now: number): Others {
    let [owners, lanes] = [0, 0]
    for (const [name, row] of this.owners) {
      if (processOf(name) === processOf(owner) || row.until <= now) continue
      owners += 1
      lanes += row.lanes
    }
    return { owners, lanes }
  }

  /** How many of these lanes each living owner has. */
  holdings(now: number, isCounted: (lane: string) => boolean): ReadonlyMap<string, number> {
    const held = new Map<string, number>()
    for (const [name, row] of this.owners) if (row.until > now) held.set(name, 0)
    for (const { lane, owner } of this.lanes.values()) {
      const known = owner === null ? undefined : held.get(owner)
      if (owner !== null && isCounted(lane) && known !== undefined) held.set(owner, known + 1)
    }
    return held
  }

  protected nextSeq(): number {
    this.#lastSeq += 1
    return this.#lastSeq
  }

  /** Every other owner left free lanes in its last sweep. */
  protected allLeft(owner: string, now: number): boolean {
    const others = [...this.owners].filter(([name, row]) => processOf(name) !== processOf(owner) && row.until > now)
    return others.length > 0 && others.every(([, row]) => row.left)
  }

  protected extend({ owner, lease_ms, serial, share = NO_SHARE, any_due }: LeaseInput, now: number): void {
    const left = this.owners.get(owner)?.left === true && !any_due
    this.owners.set(owner, { until: now + lease_ms, serial, lanes: share.held, left })
  }

  protected count(owner: string, { taken, left }: { taken: number; left: boolean }): void {
    const row = this.#owner(owner)
    row.lanes += taken
    row.left ||= left
  }

  #owner(name: string): { lanes: number; left: boolean } {
    const row = this.owners.get(name)
    if (row === undefined) throw new Error(`no owner ${name}`)
    return row
  }

  protected delivery(deliveryId: string): Delivery {
    const row = this.deliveries.get(deliveryId)
    if (row === undefined) throw new Error(`no delivery ${deliveryId}`)
    return row
  }

  protected lanesOf(workspace: string): LaneRow[] {
    return [...this.lanes.values()].filter((lane) => lane.workspace === workspace)
  }

  protected pausedKey(key: string): PauseReason | null {
    return this.pauseReason(this.lane(key))
  }

  protected isHeld(lane: LaneRow, now: number): boolean {
    return lane.owner !== null && (this.owners.get(lane.owner)?.until ?? -Infinity) > now
  }

  protected isCurrent(held: Held): boolean {
    return this.lane(held.lane).fence === held.fence
  }

  protected freeByDue(now: number): LaneRow[] {
    const free: LaneRow[] = []
    for (const lane of this.lanes.values()) if (hasWork(lane, now) && !this.isHeld(lane, now)) free.push(lane)
    return free.length < 2 ? free : free.toSorted((a, b) => workAt(a) - workAt(b))
  }
}
