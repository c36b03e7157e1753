import { LIMITS } from '@postroad/contract'

export interface DeliverLimits {
  readonly leaseMs: number
  readonly heartbeatMs: number
  /** How often any process looks for free lanes, and for work in the quiet lanes that it owns. */
  readonly sweepMs: number
  /** A lane without work for this long is given back. */
  readonly laneIdleMs: number
  /**
   * If the answer to a start takes longer than this, the request is not sent, because the destination may have been paused
   * meanwhile.
   */
  readonly staleBeginMs: number
  /**
   * `staleBeginMs` while the store itself is slow: twice its last turn, up to this. Other owners assume this value for
   * requests under way.
   */
  readonly staleBeginMsMax: number
  /** Hints do not make this process request a lane that another process owns, for this long. */
  readonly elsewhereMs: number
  /** After `stop`, requests in flight may take this long. Then they are cut off and left to recovery. */
  readonly drainMs: number
  /** An owner that has its fair share leaves a lane with new work to the others for this long. */
  readonly othersFirstMs: number
  /** An owner that has more than its fair share for this long hands lanes over. */
  readonly overShareMs: number
  readonly overShareByOneMs: number
  /** A lane that is being handed over starts nothing for at most this long. If its requests take longer, it stays. */
  readonly handOverMs: number
  /** A lane that could not be handed over in time is not tried again for this long. */
  readonly retainedMs: number
  /** A lane counts as working for this long after it last had something to do. */
  readonly workingMs: number
  /** Lanes with work are counted at most this often. */
  readonly countedMs: number
  /** An owner has a lane for at least this long before it hands it over. */
  readonly heldMsMin: number
  /**
   * The pause between two rounds of handing over, in which the others take the lanes and report them. It doubles while
   * they take none.
   */
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
  /** Deliveries that fall due one by one are read together: after a read, a lane waits at least this long for the next ones. */
  readonly dueGapMs: number
  readonly turnsInFlightMax: number
  /**
   * While a turn is under way, another one starts only for this many results and lanes, or for half of the requests under way.
   */
  readonly turnItemsMin: number
  /** A successful result waits this long for others, so that one turn settles them together. */
  readonly settleWaitMs: number
  readonly beginsPerTurnMax: number
  readonly settlesPerTurnMax: number
  /** The counts of a breaker are written this long after they change. */
  readonly noteMs: number
  /** Nothing starts while more results than this wait for the store. */
  readonly unsettledMax: number
  readonly bufferedPerLaneMin: number
  readonly bufferedPerLaneMax: number
  /** The slots of this process: requests under way, and starts on their way to the store. */
  readonly requestsMax: number
  /** Slots only for workspaces that have none in use. */
  readonly requestsReserved: number
  /** A workspace that takes a slot then has at most this many times the number of slots that are left for others. */
  readonly requestsShare: number
  /** A delivery for whose payload there was no memory is due again after this. */
  readonly unsentMs: number
  /** This process is not ready when a store call fails for longer than this, or gets no answer for longer than this. */
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
  retainedMs: 60_000,
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
  settleWaitMs: 20,
  beginsPerTurnMax: 500,
  settlesPerTurnMax: 500,
  noteMs: 5_000,
  unsettledMax: 2_000,
  bufferedPerLaneMin: 32,
  bufferedPerLaneMax: 256,
  requestsMax: 2_000,
  requestsReserved: 250,
  requestsShare: 8,
  unsentMs: 15_000,
  stalledMs: 20_000,
}
