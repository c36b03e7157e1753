import { LIMITS } from '@postroad/contract'

export interface DeliverLimits {
  readonly leaseMs: number
  readonly heartbeatMs: number
  /** How often any process looks for lanes nobody holds, and for work in the quiet lanes it holds. */
  readonly sweepMs: number
  /** A lane without work for this long is given back. */
  readonly laneIdleMs: number
  /** A begin whose answer is older than this is not sent: the destination may have been paused meanwhile. */
  readonly staleBeginMs: number
  /** The same while the store itself is slow: twice its last turn, up to this. What may be under way is reckoned by it. */
  readonly staleBeginMsMax: number
  /** A lane that another process holds is not asked for again by hints for this long. */
  readonly elsewhereMs: number
  /** After `stop`, requests in flight may take this long; then they are broken off and left to recovery. */
  readonly drainMs: number
  readonly storeBackoffMs: number
  readonly storeBackoffMsMax: number
  readonly lanesMax: number
  readonly lanesPerLeaseMax: number
  readonly lanesPerReadMax: number
  readonly lanesPerReleaseMax: number
  readonly hintsMax: number
  readonly readsInFlightMax: number
  /** What falls due one by one is read together: after a read a lane waits this long at least for what falls due. */
  readonly dueGapMs: number
  readonly turnsInFlightMax: number
  /** Beside another turn one is begun only for this many results and lanes, or for half of the requests under way. */
  readonly turnItemsMin: number
  readonly beginsPerTurnMax: number
  readonly settlesPerTurnMax: number
  /** What a breaker counts is written this long after it has changed. */
  readonly noteMs: number
  /** Nothing is begun while more results than this wait for the store. */
  readonly unsettledMax: number
  readonly bufferedPerLaneMin: number
  readonly bufferedPerLaneMax: number
  readonly requestsMax: number
}

export const DELIVER_LIMITS: DeliverLimits = {
  leaseMs: LIMITS.laneLeaseMs,
  heartbeatMs: LIMITS.laneHeartbeatMs,
  sweepMs: 2_000,
  laneIdleMs: 10_000,
  staleBeginMs: 1_000,
  staleBeginMsMax: LIMITS.beginToSendMsMax,
  elsewhereMs: 5_000,
  drainMs: 20_000,
  storeBackoffMs: 100,
  storeBackoffMsMax: 2_000,
  lanesMax: 20_000,
  lanesPerLeaseMax: 200,
  lanesPerReadMax: 64,
  lanesPerReleaseMax: 500,
  hintsMax: 1_000,
  readsInFlightMax: 2,
  dueGapMs: 50,
  turnsInFlightMax: 2,
  turnItemsMin: 100,
  beginsPerTurnMax: 500,
  settlesPerTurnMax: 500,
  noteMs: 5_000,
  unsettledMax: 2_000,
  bufferedPerLaneMin: 32,
  bufferedPerLaneMax: 256,
  requestsMax: 2_000,
}
