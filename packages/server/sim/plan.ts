/** The plan of a seed: its world and its faults. Each kind of fault is left out in some worlds, so that rare pairs meet. */
import { DEFAULT_SCHEDULE_SECONDS } from '@postroad/contract'
import type { DeliverLimits } from '../src/pipeline/deliver/limits.ts'
import type { LaneSettings } from '../src/pipeline/deliver/ports.ts'
import type { Rng } from './rng.ts'
import type { Nature, Network } from './sink.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

export interface StoreFaults {
  readonly refused: number
  readonly unknown: number
  readonly slow: number
}

export interface PlannedLane {
  readonly lane: string
  readonly workspace: string
  readonly settings: LaneSettings
  readonly nature: Nature
  readonly hopeless: boolean
  /** In a flood, it gets more work than all slots can take. */
  readonly isGreedy: boolean
  readonly outage: { readonly from: number; readonly to: number } | null
}

export interface Plan {
  readonly lanes: readonly PlannedLane[]
  readonly workers: number
  readonly bursts: readonly { readonly at: number; readonly requests: number }[]
  readonly skewMs: number
  /** The interval at which a process looks for work. Mostly long, because most looks find nothing. */
  readonly sweepMs: number
  readonly hintChance: number
  store: StoreFaults
  network: Network
  readonly crashes: readonly number[]
  /** The chance to die at each crash point. */
  readonly deaths: number
  readonly pauses: readonly number[]
  readonly stops: readonly number[]
  readonly suspensions: readonly number[]
  readonly disablings: readonly number[]
  readonly replays: readonly number[]
  readonly retries: readonly number[]
  readonly probes: readonly number[]
  readonly cancels: readonly number[]
  /** The times at which a signing secret is replaced, and how long the previous one also signs. */
  readonly rotations: readonly { readonly at: number; readonly overlapMs: number }[]
  /** Real signatures take longer than the rest of a request, so few worlds make them. */
  readonly signsInEarnest: boolean
  /** New months and changed plans of a workspace, with the number of deliveries that it may then send; null: any. */
  readonly allowances: readonly {
    readonly at: number
    readonly workspace: string
    readonly max: number | null
    readonly turned: boolean
  }[]
  /** The times at which a random subset of links is clogged one by one and freed in another order. */
  readonly swizzles: readonly number[]
  /** The chance that something happens exactly between the commit of a start and its request. */
  readonly spite: number
  /** One lane stays busy around the time when the faults stop, so that neither it nor its owner's lease comes to rest. */
  readonly busyLane: string | null
  /** The slots of each process; null: as in production, more than a world can use. */
  readonly slots: Pick<DeliverLimits, 'requestsMax' | 'requestsReserved' | 'requestsShare'> | null
  /** When some workspaces get more work than all slots can take. */
  readonly floods: readonly number[]
  /** Whether all destinations have work for a while once the world is calm. */
  readonly crowd: boolean
  /** When all destinations have work for a while amid the faults. */
  readonly rushAt: number | null
}

export const NO_STORE_FAULTS: StoreFaults = { refused: 0, unknown: 0, slow: 0 }
export const NO_NETWORK_FAULTS: Network = { lostResponses: 0, lateResponses: 0, connectionErrors: 0 }
const ARRIVALS_MS = 60 * MINUTE_MS
export const FAULTS_MS = 3 * HOUR_MS

const NATURES: readonly Nature[] = ['healthy', 'healthy', 'healthy', 'flaky', 'slow', 'throttled', 'dead', 'gone']
/** A lane with an order is blocked while a retry waits in it; days of waiting would be most of the work. */
const PROMPT_NATURES: readonly Nature[] = NATURES.filter((nature) => nature !== 'throttled')
/** Some overlaps end between an attempt and its retries. */
const OVERLAPS_MS = [0, 0, 2_000, 20_000, 10 * MINUTE_MS, 24 * HOUR_MS]
const SHORT_SCHEDULE = [0, 5, 30, 120, 600]
const PROMPT_SCHEDULE = [0, 5, 30]
/** A low rate over a long period blocks its lane for hours in which nothing new happens. */
const RATE_LIMITS = [
  [1, 1_000],
  [3, 1_000],
  [10, 1_000],
  [1, 20_000],
  [3, MINUTE_MS],
  [10, MINUTE_MS],
].map(([count = 1, per_ms = MINUTE_MS]) => ({ count, per_ms }))

/** Draws a plan. Equal generators draw equal plans. */
export function drawPlan(rng: Rng): Plan {
  const bursts = Array.from({ length: rng.int(3, 5) }, () => ({
    at: rng.between(0, ARRIVALS_MS),
    requests: rng.int(3, 8),
  }))
  const nearBurst = () => rng.pick(bursts).at + rng.between(0, 20_000)
  const times = (most: number) => {
    if (rng.chance(0.4)) return []
    return Array.from({ length: rng.int(1, most) }, () => (rng.chance(0.7) ? nearBurst() : rng.between(0, FAULTS_MS)))
  }
  const crowd = rng.chance(0.04)
  const rate = (most: number) => (rng.chance(0.5) ? 0 : rng.between(0, most))
  return {
    lanes: Array.from({ length: rng.int(3, 6) }, (_, index) => drawLane(rng, index)),
    workers: rng.pick([2, 3, 3]),
    bursts,
    // A lane with work is checked before it would be given back as idle.
    sweepMs: crowd ? 2_000 : rng.pick([2_000, 8_000, 8_000, 8_000]),
    skewMs: rng.chance(0.5) ? 0 : 24 * HOUR_MS,
    hintChance: rng.pick([0, 0.5, 0.9, 1]),
    store: { refused: rate(0.1), unknown: rate(0.1), slow: rate(0.1) },
    network: { lostResponses: rate(0.1), lateResponses: rate(0.1), connectionErrors: rate(0.1) },
    crashes: times(6),
    deaths: rng.chance(0.7) ? 0 : 0.02,
    pauses: times(6),
    stops: times(3),
    suspensions: times(2),
    disablings: times(2),
    replays: times(4),
    retries: times(4),
    probes: times(6),
    cancels: times(4),
    swizzles: rng.chance(0.3) ? [nearBurst()] : [],
    spite: rng.chance(0.7) ? 0 : 0.05,
    busyLane: rng.chance(0.9) ? null : 'd0',
    allowances: drawAllowances(rng, nearBurst),
    signsInEarnest: rng.chance(0.1),
    rotations: times(5).map((at) => ({ at, overlapMs: rng.pick(OVERLAPS_MS) })),
    slots: null,
    floods: [],
    crowd,
    rushAt: crowd ? nearBurst() : null,
  }
}

const GREEDY_WORKSPACES = 2

/** A plan in which slots are scarce: two greedy workspaces with slow receivers, and some others with little work. */
export function drawSlotsPlan(rng: Rng): Plan {
  const plan = drawPlan(rng)
  const floods = Array.from({ length: rng.int(1, 2) }, () => rng.pick(plan.bursts).at + rng.between(0, 20_000))
  const workspaces = rng.int(4, 6)
  const lanes = Array.from({ length: workspaces + rng.int(0, 4) }, (_, index) => {
    const isGreedy = index % workspaces < GREEDY_WORKSPACES
    const lane = { ...drawLane(rng, index), workspace: `w${index % workspaces}`, isGreedy, hopeless: false }
    return isGreedy ? greedy(rng, lane) : lane
  })
  const slots = {
    requestsMax: rng.pick([6, 8, 12, 20]),
    requestsReserved: rng.int(1, 3),
    requestsShare: rng.pick([2, 4, 8]),
  }
  const workers = rng.pick([1, 1, 2])
  // All destinations of a crowd must have enough slots to work at the same time.
  const network = { ...plan.network, unsent: rng.pick([0, 0.05]) }
  return { ...plan, network, lanes, workers, floods, slots, allowances: [], busyLane: null, crowd: false, rushAt: null }
}

/** Its requests take long and succeed, so no breaker ends the flood. */
function greedy(rng: Rng, lane: PlannedLane): PlannedLane {
  const settings = { ...lane.settings, max_in_flight: rng.pick([5, 20]), rate_limit: null, ordered: false }
  return { ...lane, settings, nature: 'slow', outage: null }
}

function drawAllowances(rng: Rng, nearBurst: () => number): Plan['allowances'] {
  if (rng.chance(0.6)) return []
  const draw = (at: number, turned: boolean) => ({
    at,
    workspace: rng.pick(['w0', 'w0', 'w1']),
    max: rng.chance(0.1) ? null : rng.pick([0, 3, 8, 20]),
    turned,
  })
  const first = ['w0', 'w1'].map((workspace) => ({ ...draw(0, true), workspace }))
  return [
    ...first,
    ...Array.from({ length: rng.int(0, 6) }, () =>
      draw(rng.chance(0.7) ? nearBurst() : rng.between(0, FAULTS_MS), rng.chance(0.6)),
    ),
  ]
}

function drawLane(rng: Rng, index: number): PlannedLane {
  const from = rng.between(0, ARRIVALS_MS)
  const ordered = rng.chance(0.25)
  const settings = {
    max_in_flight: rng.pick([1, 2, 5]),
    schedule_seconds: drawSchedule(rng, ordered),
    timeout_ms: rng.pick([1_000, 15_000, 40_000]),
    rate_limit: rng.chance(0.8) ? null : rng.pick(RATE_LIMITS),
    breaker_resets: 0,
    probes_asked: 0,
    ordered,
  }
  const outage = rng.chance(0.3) ? { from, to: from + rng.between(MINUTE_MS, 2 * HOUR_MS) } : null
  return {
    lane: `d${index}`,
    workspace: `w${index % 2}`,
    settings,
    nature: rng.pick(ordered ? PROMPT_NATURES : NATURES),
    hopeless: rng.chance(0.01),
    isGreedy: false,
    outage,
  }
}

function drawSchedule(rng: Rng, ordered: boolean): readonly number[] {
  if (ordered) return PROMPT_SCHEDULE
  return rng.chance(0.04) ? DEFAULT_SCHEDULE_SECONDS : SHORT_SCHEDULE
}
