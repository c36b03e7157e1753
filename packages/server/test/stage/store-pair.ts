import { DEFAULT_SCHEDULE_SECONDS } from '@postroad/contract'
import { SimStore } from '../../sim/store.ts'
import type { StorePort } from '../../src/pipeline/deliver/ports.ts'
import { createPostgresStore } from '../../src/pipeline/deliver/postgres-store.ts'
import type { LaneAt, StoreRows } from './store-rows.ts'

/** The model and PostgreSQL, with the lanes that both have. */
export class Pair {
  readonly model = new SimStore()
  readonly store: StorePort
  readonly rows: StoreRows
  readonly lanes: readonly LaneAt[]
  readonly serials = new Map<string, number>()
  /** Attempt ids differ: the model uses `<delivery>#<number>`. */
  readonly sqlAttempt = new Map<string, string>()
  /** The names of everything that has occurred. */
  readonly seen = new Set<string>()

  constructor(rows: StoreRows, lanes: readonly LaneAt[]) {
    this.rows = rows
    this.lanes = lanes
    this.store = createPostgresStore(rows.deps)
    for (const { lane, workspaceId } of lanes) {
      const settings = {
        max_in_flight: 10,
        schedule_seconds: DEFAULT_SCHEDULE_SECONDS,
        timeout_ms: 15_000,
        rate_limit: null,
        breaker_resets: 0,
        probes_asked: 0,
        ordered: isOrdered(lane, lanes),
      }
      this.model.addLane({ lane, workspace: workspaceId, settings })
    }
  }

  get now(): number {
    return this.rows.clock.now()
  }

  some(bits: number): string[] {
    return this.lanes.filter((_, index) => ((bits >> index) & 1) === 1).map(({ lane }) => lane)
  }
}

/** The last of the lanes preserves an order. */
const isOrdered = (lane: string, lanes: readonly LaneAt[]): boolean => lanes.length > 2 && lanes.at(-1)?.lane === lane
