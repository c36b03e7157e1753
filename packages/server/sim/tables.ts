/** The rows of the model's store, and what can be read off them. Nothing here changes a delivery. */
import { Allowances } from './allowances.ts'
import { hasWork, NEW_LANE, readyAt, workAt } from './rows.ts'
import type { PauseReason } from '../src/domain/delivery-state.ts'
import type { Held } from '../src/pipeline/deliver/ports.ts'
import type { Attempt, Delivery, LaneRow } from './rows.ts'

export class Tables {
  readonly lanes = new Map<string, LaneRow>()
  readonly deliveries = new Map<string, Delivery>()
  readonly attempts = new Map<string, Attempt>()
  readonly suspended = new Set<string>()
  readonly allowances = new Allowances()
  readonly owners = new Map<string, { until: number; serial: number }>()

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

  /** When a lease call by somebody new would next find something to do; Infinity when never. */
  nextWorkAt(now: number): number {
    let least = Infinity
    for (const lane of this.lanes.values()) {
      const freeAt = this.isHeld(lane, now) ? (this.owners.get(lane.owner ?? '')?.until ?? now) : now
      if (lane.unswept) least = Math.min(least, this.pauseReason(lane) === null ? now : freeAt)
      if (freeAt < least) least = Math.min(least, Math.max(freeAt, readyAt(lane)))
    }
    return least
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
