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
  /** An owner that has its fair share leaves a lane that has got work to the others for this long. */
  readonly othersFirstMs: number
  /** An owner that holds more than its fair share for this long hands lanes over. */
  readonly overShareMs: number
  readonly overShareByOneMs: number
  /** A lane that is handed over begins nothing for this long at most; then it stays, for its requests take longer. */
  readonly handOverMs: number
  /** A lane whose requests took too long to be handed over is not tried again for this long. */
  readonly keptMs: number
  /** A lane counts as one with work for this long after it had something to do. */
  readonly workingMs: number
  /** Lanes with work are counted at most this often. */
  readonly countedMs: number
  /** A lane is held at least this long before it is handed over. */
  readonly heldMsMin: number
  /** Between two rounds of handing over: the others take what they were given and say so. Doubled while nobody takes it. */
  readonly handOverRestMs: number
  readonly handOverRestMsMax: number
  readonly handOversMax: number
  /** A lane that was handed over is not taken back for this long. */
  readonly givenMs: number
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
  /** A store call that fails or stays without an answer for longer makes this process not ready. */
  readonly stalledMs: number
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
  othersFirstMs: 200,
  overShareMs: 2_000,
  overShareByOneMs: 10_000,
  handOverMs: 2_000,
  keptMs: 60_000,
  workingMs: 5_000,
  countedMs: 500,
  heldMsMin: 2_000,
  handOverRestMs: 4_000,
  handOverRestMsMax: 60_000,
  handOversMax: 200,
  givenMs: 5_000,
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
  stalledMs: 20_000,
}
