import { encodeId, LIMITS, type OriginError } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { PATIENCE_MS } from '../../domain/serving/forwarding/position.ts'
import { Horizon } from '../../domain/serving/snapshot.ts'
import { pauseAfter } from '../../domain/sources/backoff.ts'
import { runClaimed } from '../../platform/claimed-work.ts'
import { openForwarderHeaders } from '../../resources/serving/forwarders/index.ts'
import {
  advanceCursor,
  claimCursors,
  failCursor,
  releaseCursor,
  renewCursor,
  type Claim,
  type ClaimedCursor,
} from '../../resources/serving/forwarders/cursors/queries.ts'
import { nextBatch, type Batch } from './batch.ts'
import { exportItems, type Receiver } from './export.ts'
import { resourceOf } from './resource.ts'
import { sendBatch, type Sent } from './send.ts'

/** The most signals that a process sends at the same time. They mostly wait for receivers. */
const AT_ONCE = 32
/** The most of one workspace, so that its slow receivers leave room for others. */
const OF_WORKSPACE_MAX = 16
const LEASE_MS = 60_000
/** From the end of a round to the start of the next. */
const ROUND_MS = 5_000
/** A run with a backlog gives its place to others after this many batches. */
const BATCHES_PER_RUN = 20
/** A batch that fails shrinks, so that the receiver may take a part of it. */
const ROWS_MIN = 8

export type Forwards = {
  /** Sends everything that is due, and resolves to the number of claims. */
  run(): Promise<number>
  /** Ends the requests under way, and starts no others. */
  stop(): void
}

/** `requestMs`: for tests of slow receivers. */
export function createForwards(deps: Deps, owner: string, requestMs: number = LIMITS.forwarderRequestMs): Forwards {
  const stopped = new AbortController()
  const horizon = new Horizon(PATIENCE_MS)
  return {
    run: () =>
      runClaimed<ClaimedCursor>(deps.clock, {
        atOnce: AT_ONCE,
        isStopping: () => stopped.signal.aborted,
        claim: ({ limit, underWay }) =>
          claim(deps, { owner, limit, underWay: underWay.map((cursor) => cursor.workspace_id) }),
        work: (cursor) => forward({ deps, horizon, requestMs, off: stopped.signal }, cursor),
      }),
    stop: () => stopped.abort(),
  }
}

function claim(
  { database, clock }: Deps,
  asked: { owner: string; limit: number; underWay: readonly string[] },
): Promise<readonly ClaimedCursor[]> {
  const now = clock.now()
  const at = { now: new Date(now), until: new Date(now + LEASE_MS), ofWorkspaceMax: OF_WORKSPACE_MAX }
  return claimCursors(database, { ...asked, ...at })
}

type Tools = {
  readonly deps: Deps
  readonly horizon: Horizon
  readonly requestMs: number
  readonly off: AbortSignal
}

/** One run of one signal. It never rejects. */
async function forward(tools: Tools, cursor: ClaimedCursor): Promise<void> {
  const { deps, off } = tools
  try {
    await sendBatches(tools, cursor)
  } catch (cause) {
    // This server is at fault, so this is not a failure of the receiver.
    deps.retryLog.warn('forwarder.not_run', { forwarder: encodeId('forwarder', cursor.id), cause })
    await release(deps, cursor, pauseAfter(1)).catch((error: unknown) =>
      deps.retryLog.warn('forwarder.not_released', { cause: error }),
    )
    return
  }
  if (off.aborted) await release(deps, cursor, 0).catch(() => undefined)
}

async function sendBatches(tools: Tools, cursor: ClaimedCursor): Promise<void> {
  const { deps, horizon, off } = tools
  const db = deps.database.forWorkspace(cursor.workspace_id)
  const receiver = receiverOf(deps, cursor)
  const rowsMax = Math.max(ROWS_MIN, LIMITS.forwardedBatchRowsMax >> Math.min(cursor.failures, 10))
  let { position, proven } = cursor
  for (let batches = 0; batches < BATCHES_PER_RUN && !off.aborted; batches += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each batch starts where the previous one was committed
    const batch = await nextBatch({ db, clock: deps.clock, horizon, cursor, rowsMax }, position)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const sent = await send(tools, { cursor, receiver, batch, proven })
    if (sent.kind === 'stopped') return
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (sent.kind === 'failed') return await fail(deps, cursor, sent)
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (!(await commit(deps, cursor, { batch, sent }))) return
    if (batch.sentUntil !== undefined) return await release(deps, cursor, ROUND_MS)
    proven ||= sent.accepted > 0
    position = batch.position
  }
  await release(deps, cursor, 0)
}

const NOTHING_SENT = { kind: 'done', accepted: 0, refused: 0, text: null } as const

type Sending = {
  readonly cursor: ClaimedCursor
  readonly receiver: Receiver
  readonly batch: Batch
  readonly proven: boolean
}

async function send(tools: Tools, { cursor, receiver, batch, proven }: Sending): Promise<Sent> {
  const { deps, off, requestMs } = tools
  if (batch.items.length === 0) return NOTHING_SENT
  return sendBatch({
    items: batch.items,
    proven,
    // Proves the claim before each request: a suspension or a change of the settings ends the run.
    request: async (items) => {
      const until = new Date(deps.clock.now() + LEASE_MS)
      if (off.aborted || (await renewCursor(deps.database, { ...claimOf(cursor), until })) === 0) return undefined
      const result = await exportItems(deps, receiver, {
        signal: cursor.signal,
        items,
        timeoutMs: requestMs,
        signalOff: off,
      })
      return result.kind === 'failed' && off.aborted ? undefined : result
    },
  })
}

/** Returns whether the run may continue. */
async function commit(
  deps: Deps,
  cursor: ClaimedCursor,
  { batch, sent }: { batch: Batch; sent: Extract<Sent, { kind: 'done' }> },
): Promise<boolean> {
  const now = deps.clock.now()
  const committed = await advanceCursor(deps.database, {
    ...claimOf(cursor),
    position: batch.position,
    sentUntil: batch.sentUntil === undefined ? null : new Date(batch.sentUntil),
    sent: sent.accepted,
    refused: sent.refused,
    refusedText: sent.text,
    expired: batch.dropped,
    proves: sent.accepted > 0,
    now: new Date(now),
    leaseUntil: new Date(now + LEASE_MS),
  })
  if (committed !== undefined && !committed.goes_on) await release(deps, cursor, ROUND_MS)
  return committed?.goes_on === true
}

async function fail(deps: Deps, cursor: ClaimedCursor, sent: Extract<Sent, { kind: 'failed' }>): Promise<void> {
  const now = deps.clock.now()
  const error: OriginError = { at: new Date(now).toISOString(), reason: sent.reason, error: sent.error }
  const dueAt = new Date(now + Math.max(pauseAfter(cursor.failures + 1), sent.waitMs))
  await failCursor(deps.database, { ...claimOf(cursor), error, now: new Date(now), dueAt })
}

async function release(deps: Deps, cursor: ClaimedCursor, inMs: number): Promise<void> {
  await releaseCursor(deps.database, { ...claimOf(cursor), dueAt: new Date(deps.clock.now() + inMs) })
}

function receiverOf(deps: Deps, cursor: ClaimedCursor): Receiver {
  const { endpoint, encoding, gzip } = cursor
  return {
    endpoint,
    encoding,
    gzip,
    headers: openForwarderHeaders(deps, cursor),
    resource: resourceOf(cursor),
    lane: cursor.id,
  }
}

const claimOf = ({ workspace_id, project_id, id, signal, fence }: ClaimedCursor): Claim => ({
  workspaceId: workspace_id,
  projectId: project_id,
  id,
  signal,
  fence,
})
