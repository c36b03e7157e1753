import type { Rejection } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { firstDayRetained, limitsOf } from '../../../domain/workspace/plan.ts'
import { Horizon, NOTHING, readSnapshot, seesNothing, type Snapshot } from '../../../domain/serving/snapshot.ts'
import type { Position } from '../../../domain/serving/stream-cursor.ts'
import { createTurns } from '../../../platform/turns.ts'
import { presentDelivery, type DeliveryRow } from '../../delivery/deliveries/index.ts'
import { readHolds } from '../../delivery/delivery-holds/index.ts'
import { retainedFrom } from '../../workspace/erasure/index.ts'
import { presentRejection } from '../../capture/rejections/index.ts'
import {
  beginGeneration,
  confirmPlaces,
  findRetention,
  leavePlace,
  lockConnections,
  readChangedDeliveries,
  readCountedRejections,
  readMoment,
  readPage,
  takePlace,
  type StreamRow,
  type StreamScope,
} from './queries.ts'

/** For other readers of rows that became visible between two snapshots. */
export { beginGeneration, moment, readMoment, seenBy, unseenBy } from './queries.ts'

export type { StreamRow, StreamScope }

/**
 * The longest time from the creation of an id to the start of its transaction: 5 s in the queue of the group commit, 15 s until the
 * connection is given up, and 6 s to check whether the event was stored after all.
 */
const MARGIN_MS = 26_000
/** A sender who waited longer for a commit got 503, so the event was not promised. */
const PATIENCE_MS = 60_000
/** An attempt ends within its timeout, which is at most a minute, and is stored soon after. */
const ATTEMPT_MS = 90_000
/** The minute of a refusal, the time until its request arrived, and the time to write it. */
const COUNTED_MS = 180_000
const ROWS_MAX = 500
const BYTES_MAX = 262_144
const LIVE_READS_AT_ONCE = 2

/** One read: the rows that `to` sees and `from` does not, by id, up to the end of a page. */
export type Page = {
  readonly history: string
  readonly from: Snapshot
  readonly floor: number
  readonly to: Snapshot
  readonly toFloor: number
  readonly rows: readonly StreamRow[]
  /** Whether the same read continues after the last row. */
  readonly more: boolean
}

export type Changes = {
  readonly deliveries: readonly PublicDelivery[]
  readonly position: Position
  readonly more: boolean
}
/** Rows of the rejection log with new counts, and the position to continue from. */
export type Refusals = { readonly rejections: readonly Rejection[]; readonly position: Position }
export type Holds = Awaited<ReturnType<typeof readHolds>>
type PublicDelivery = ReturnType<typeof presentDelivery>

export type StreamReader = {
  /** The position after everything up to now. */
  now(): Promise<Position>
  /** The next page after a position, of these datasets or of all. `live` reads do not wait for clients that catch up. */
  read(at: {
    scope: StreamScope
    position: Position
    datasets?: readonly string[] | undefined
    /** Adds the requests of the records, which are as large as the records. */
    requests?: boolean
    live?: true
  }): Promise<Page>
  /** Deliveries that were created or tried after a recent position, in their current state. */
  changes(at: { scope: StreamScope; position: Position }): Promise<Changes>
  /** Rows of the rejection log with new counts since a recent position: at most 500, newest first. */
  refusals(at: { scope: StreamScope; position: Position }): Promise<Refusals>
  /** The destinations of a project that hold deliveries back now. */
  holds(scope: StreamScope & { readonly projectId: string }): Promise<Holds>
  /** The time before which records are no longer stored; undefined while nothing was dropped. */
  retainedSince(workspaceId: string): Promise<number | undefined>
}

/** The position at a time (milliseconds): everything after it is still to come. */
export function since(ms: number): Position {
  return { history: '0-0', from: NOTHING, floor: Math.max(0, Math.floor(ms)) }
}

/** The position of a reader after a page, or after one of its rows. */
export function positionAfter(page: Page, row: StreamRow | undefined): Position {
  const { history, from, floor, to, toFloor } = page
  return row === undefined
    ? { history, from: to, floor: toFloor }
    : { history, from, floor, partway: { to, floor: toFloor, after: row.id } }
}

/**
 * Reads streams without loss or repetition (docs/adr/0008). A process runs at most two live reads at a time, and one
 * for clients that catch up.
 */
export function createStreamReader(deps: Deps): StreamReader {
  const horizon = new Horizon(PATIENCE_MS)
  const inTurn = createTurns({ atOnce: 1 })
  const inLiveTurn = createTurns({ atOnce: LIVE_READS_AT_ONCE })
  const floorOf = (snapshot: Snapshot, at: number): number =>
    Math.max(0, Math.floor(horizon.behind(snapshot, at) - MARGIN_MS))

  const read: StreamReader['read'] = async (asked) => {
    const { scope, position, datasets, requests = false, live } = asked
    const { partway } = position
    const now = deps.clock.now()
    const found = await (live === true ? inLiveTurn : inTurn)(() =>
      readPage(deps.database.forWorkspace(scope.workspaceId), {
        ...scope,
        from: position.from,
        // A clock that was set back creates ids with earlier times.
        floor: seesNothing(position.from) ? position.floor : Math.min(position.floor, now - MARGIN_MS),
        to: partway?.to,
        after: partway?.after,
        datasets,
        requests,
        rowsMax: ROWS_MAX,
        bytesMax: BYTES_MAX,
      }),
    )
    if (isUnsaid(found)) return afresh(deps, () => read(asked))
    // Another database, or this one after a crash, has other transaction numbers. A read by time loses nothing, but repeats some rows.
    if (found.history !== position.history && (partway !== undefined || !seesNothing(position.from))) {
      return read({ ...asked, position: { history: found.history, from: NOTHING, floor: position.floor } })
    }
    const seen = snapshotOf(found.snapshot)
    const { from, floor } = position
    const to = partway?.to ?? seen
    return {
      history: found.history,
      from,
      floor,
      to,
      toFloor: partway?.floor ?? floorOf(seen, now),
      rows: found.rows,
      more: found.more,
    }
  }

  const changes: StreamReader['changes'] = async ({ scope, position }) => {
    const { partway } = position
    const now = deps.clock.now()
    const asked = { ...scope, from: position.from, to: partway?.to, after: partway?.after, rowsMax: ROWS_MAX }
    const found = await inLiveTurn(() =>
      readChangedDeliveries(deps.database.forWorkspace(scope.workspaceId), {
        ...asked,
        madeFrom: now - MARGIN_MS,
        begunFrom: now - ATTEMPT_MS,
      }),
    )
    if (isUnsaid(found)) return afresh(deps, () => changes({ scope, position }))
    const seen = snapshotOf(found.snapshot)
    const to = partway?.to ?? seen
    // After a crash, transactions have other numbers, so the read starts again.
    const after = found.history === position.history && found.more ? found.rows.at(-1)?.id : undefined
    const { history } = found
    const next =
      after === undefined ? { history, from: to, floor: now } : { ...position, partway: { to, floor: now, after } }
    return { deliveries: found.rows.map(presentChanged), position: next, more: after !== undefined }
  }

  const refusals: StreamReader['refusals'] = async (asked) =>
    (await inLiveTurn(() => readRefusals(deps, asked))) ?? afresh(deps, () => refusals(asked))

  const now: StreamReader['now'] = async () => {
    const at = deps.clock.now()
    const found = await inLiveTurn(() => readMoment(deps.database))
    if (isUnsaid(found)) return afresh(deps, now)
    const from = snapshotOf(found.snapshot)
    return { history: found.history, from, floor: floorOf(from, at) }
  }

  return {
    read,
    changes,
    refusals,
    holds: (scope) =>
      inLiveTurn(() => readHolds(deps.database.forWorkspace(scope.workspaceId), { ...scope, now: deps.clock.now() })),
    now,
    retainedSince: (workspaceId) => inTurn(() => retainedSince(deps, workspaceId)),
  }
}

/** The days of all workspaces are dropped together, and a shorter plan stores fewer of them. */
async function retainedSince({ database, plans, clock }: Deps, workspaceId: string): Promise<number | undefined> {
  const db = database.forWorkspace(workspaceId)
  const found = await findRetention(db, workspaceId)
  if (found === undefined) return undefined
  const byPlan = await retainedFrom(db, {
    workspaceId,
    before: firstDayRetained(limitsOf(plans, found.plan), clock.now()),
  })
  const from = Math.max(found.day?.getTime() ?? 0, byPlan)
  return found.created_at.getTime() < from ? from : undefined
}

async function afresh<T>({ database }: Deps, again: () => Promise<T>): Promise<T> {
  await beginGeneration(database)
  return again()
}

/** undefined while the generation of the database is not recorded. */
async function readRefusals(
  { database, clock }: Deps,
  { scope, position }: Parameters<StreamReader['refusals']>[0],
): Promise<Refusals | undefined> {
  const now = clock.now()
  const found = await readCountedRejections(database.forWorkspace(scope.workspaceId), {
    ...scope,
    from: position.from,
    countedFrom: now - COUNTED_MS,
    rowsMax: ROWS_MAX,
  })
  if (isUnsaid(found)) return undefined
  // After a crash, transactions have other numbers, so the read starts again.
  const rows = found.history === position.history ? found.rows : []
  return {
    rejections: rows.map(presentRejection),
    position: { history: found.history, from: snapshotOf(found.snapshot), floor: now },
  }
}

/** Removes the columns of the read itself, which are not part of the delivery. */
function presentChanged({
  id,
  record_id,
  dataset,
  destination_id,
  state,
  pause_reason,
  attempt_count,
  next_attempt_at,
  last_status,
  last_error,
  created_at,
  updated_at,
}: DeliveryRow): PublicDelivery {
  return presentDelivery({
    id,
    record_id,
    dataset,
    destination_id,
    state,
    pause_reason,
    attempt_count,
    next_attempt_at,
    last_status,
    last_error,
    created_at,
    updated_at,
  })
}

const isUnsaid = ({ history }: { readonly history: string }): boolean => history.endsWith('-0')

function snapshotOf(text: string): Snapshot {
  const snapshot = readSnapshot(text)
  if (snapshot === undefined) throw new Error(`PostgreSQL returned an invalid snapshot: ${text.slice(0, 200)}`)
  return snapshot
}

export type Place = { readonly workspaceId: string; readonly id: string }

/** The interval in which a process confirms its places. After three intervals without a confirmation it loses them. */
export const CONFIRM_MS = 5_000

/** Takes one of the plan's places for a connection; false when all are taken, in any process. */
export function takeStreamPlace(deps: Deps, at: Place & { max: number }): Promise<boolean> {
  // oxlint-disable-next-line house/verb-guards -- a connection that opens changes nothing of the workspace
  return deps.database.forWorkspace(at.workspaceId).transaction(async (db) => {
    const now = deps.clock.now()
    await lockConnections(db, at.workspaceId)
    return takePlace(db, { ...at, now: new Date(now), staleBefore: new Date(now - 3 * CONFIRM_MS) })
  })
}

export function confirmStreamPlaces(deps: Deps, places: readonly Place[]): Promise<void> {
  return confirmPlaces(deps.database, { places, now: new Date(deps.clock.now()) })
}

export function leaveStreamPlace(deps: Deps, place: Place): Promise<void> {
  return leavePlace(deps.database.forWorkspace(place.workspaceId), place)
}
